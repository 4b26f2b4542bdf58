"""List the files below a root, without a JVM."""

from __future__ import annotations

import time

from freshet.project.model.pipeline import TableRef
from freshet.sources.files.look.facts import Listing
from freshet.sources.files.look.upto import place_of, read_upto
from freshet.sources.files.reads import File
from freshet.storage.failures import failure_of
from freshet.storage.files import storage_for


def list_files(root: TableRef) -> Listing | None:
    """Return the files below a root; None where there is no such folder.

    Args:
        root: The root.

    Raises:
        FreshetError: STORAGE_REFUSED, STORAGE_UNREACHABLE, STORAGE_FAILED, BAD_PATH or INGEST_RECORD_UNREADABLE.
    """
    into, folder = place_of(root.path)
    # Before the files: all that lie before it are there, and more of them come only after it moved.
    upto = read_upto(into)
    try:
        asked = int(time.time() * 1000)
        files = tuple(File(*one) for one in storage_for(root.path).below(root.path))
        return Listing(files=files, asked_ms=asked, folder=folder, upto=upto)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except Exception as error:  # a client of a store raises what it likes
        raise failure_of(root, error) from error
