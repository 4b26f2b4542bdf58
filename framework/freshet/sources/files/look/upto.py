"""Up to where the files of an ingest may be read whose tables are published together.

A file beside the folders of the tables says so for all of them: it is replaced as a whole, so that they go on together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath

from freshet.errors import FreshetError
from freshet.storage.files import is_local, local_path

NAME = ".freshet-together.json"
_VERSION = 1
# Where in the log a file of changes begins; a file of a copy has more behind it than its ending.
_BEGIN = re.compile(r"(\d{20})(\.json\.gz)?")


@dataclass(frozen=True, kw_only=True)
class Upto:
    """A place in a database's log, where no transaction is open.

    Args:
        position, number: In the database's own words, and as a number that grows; empty and -1 for the one before all.
        folders: Of the tables that are read up to there; of others nothing is read yet.
    """

    position: str = ""
    number: int = -1
    folders: Collection[str] = ()

    def has(self, folder: str, path: str) -> bool:
        """Say whether what a file holds lies before it.

        Args:
            folder: Of the file's table.
            path: Of the file, below that folder.
        """
        found = _BEGIN.match(path)
        if found is None or folder not in self.folders:
            return False
        # A file ends where the next one may begin, and a copy counts as older than all that the log has from its number on.
        return int(found[1]) < self.number + (found[2] is None)

    def as_json(self) -> dict[str, object]:
        """Return what the file holds."""
        return {"version": _VERSION, "position": self.position, "number": self.number, "folders": sorted(self.folders)}


def read_upto(into: str) -> Upto | None:
    """Return up to where the tables of an ingest are read; None where nothing bounds it.

    Args:
        into: The folder with those of the tables, or any other.

    Raises:
        FreshetError: INGEST_RECORD_UNREADABLE.
    """
    if not is_local(into):
        return None
    path = f"{local_path(into)}/{NAME}"
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        if found["version"] != _VERSION:
            raise ValueError("it is of another version of freshet")
        return Upto(position=str(found["position"]), number=int(found["number"]), folders=frozenset(found["folders"]))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise FreshetError(
            "INGEST_RECORD_UNREADABLE",
            f"{path} cannot be read: {error}.",
            "Nothing was read or written.",
            "Bring the file back; or run `freshet ingest` once without 'transactional: true', which removes it.",
        ) from error


def place_of(root: str) -> tuple[str, str]:
    """Return the folder with those of the tables, and the name of one of them, of its path."""
    path = PurePosixPath(root)
    return str(path.parent), path.name
