"""Conditional writes of S3, GCS and Azure by ``obstore``, of the extra ``object-store``: Arrow's own clients have none.

Its credentials are those of the environment, as ``AWS_ACCESS_KEY_ID``, ``GOOGLE_APPLICATION_CREDENTIALS`` and
``AZURE_STORAGE_ACCOUNT_KEY``, or of the machine it runs on.
"""

from __future__ import annotations

import json
import os
import uuid
from contextlib import suppress
from datetime import timedelta
from functools import lru_cache
from importlib import import_module
from typing import Any

from freshet.storage.conditional import Stored
from freshet.storage.remote import split_uri

# A lease is renewed several times before it ends: an answer that takes longer is no use.
_REQUEST, _WITH_REPEATS = timedelta(seconds=8), timedelta(seconds=12)


class ObjectStore:
    """The conditional writes of one bucket or container.

    Args:
        uri: Any URI of it, such as a table's base path.
    """

    def __init__(self, uri: str) -> None:
        # A package of an extra, and a table on the machine's own disk needs none of it.
        scheme, place, _ = split_uri(uri)
        # Where S3 is another server, as tests have it, the environment may name it without TLS.
        plain = any(name.startswith("AWS_ENDPOINT") and value.lower().startswith("http:") for name, value in os.environ.items())
        self._do: Any = import_module("obstore")
        self._errors: Any = import_module("obstore.exceptions")
        self._store: Any = import_module("obstore.store").from_url(
            f"{'s3' if scheme.startswith('s3') else scheme}://{place}",
            client_options={"timeout": _REQUEST, "connect_timeout": _REQUEST, **({"allow_http": True} if plain else {})},
            retry_config={"max_retries": 2, "retry_timeout": _WITH_REPEATS},
        )

    def read(self, path: str) -> Stored | None:
        """Return an object; None where there is none."""
        try:
            found = self._do.get(self._store, _key(path))
        except (self._errors.NotFoundError, FileNotFoundError):
            return None
        return Stored(bytes(found.bytes()), _tag(found.meta), found.meta["last_modified"].timestamp())

    def create(self, path: str, data: bytes) -> str | None:
        """Write an object that is not there, and return its tag; None where one is there."""
        return self._put(path, data, "create")

    def swap(self, path: str, data: bytes, tag: str) -> str | None:
        """Write an object over the version that has a tag, and return the new tag; None where another stands there."""
        return self._put(path, data, json.loads(tag))

    def now(self, path: str) -> float:
        """Return the time by the store's clock, in whole seconds as most stores tell it."""
        probe = f"{_key(path)}.{uuid.uuid4().hex}.tmp"
        self._do.put(self._store, probe, b"", use_multipart=False)
        try:
            return float(self._do.head(self._store, probe)["last_modified"].timestamp())
        finally:
            with suppress(Exception):
                self._do.delete(self._store, probe)

    def _put(self, path: str, data: bytes, mode: object) -> str | None:
        try:
            return _tag(self._do.put(self._store, _key(path), data, mode=mode, use_multipart=False))
        except (self._errors.AlreadyExistsError, self._errors.PreconditionError):
            return None
        except (self._errors.NotFoundError, FileNotFoundError):
            # Of a version there is none any more; to make an object the bucket must be there.
            if mode == "create":
                raise
            return None


@lru_cache(maxsize=32)
def object_store(scheme: str, place: str) -> ObjectStore:
    """Return the one client of a bucket or container."""
    return ObjectStore(f"{scheme}://{place}/")


def _tag(found: Any) -> str:
    # GCS asks for the version, and the others for the tag.
    return json.dumps({name: found[name] for name in ("e_tag", "version") if found.get(name) is not None})


def _key(path: str) -> str:
    return split_uri(path)[2].strip("/")
