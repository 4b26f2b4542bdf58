"""Conditional writes of an object store by ``obstore``: what its answers and errors mean. The client is a stand-in."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from freshet.storage.conditional import can_be_conditional, conditional_store
from freshet.storage.object_store import ObjectStore

PATH = "s3a://bucket/derived/.freshet/earnings.lease.json"


class NotFoundError(Exception):
    """As obstore's."""


class PreconditionError(Exception):
    """As obstore's."""


class AlreadyExistsError(Exception):
    """As obstore's."""


class Bucket:
    """What obstore does with a bucket, so far as a lease needs it."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, str]] = {}
        self.there = True
        self.made: dict[str, Any] = {}
        self.url = ""

    def from_url(self, url: str, **options: Any) -> Bucket:
        self.url, self.made = url, options
        return self

    def put(
        self, store: object, key: str, data: bytes, mode: Any = "overwrite", use_multipart: bool = True
    ) -> Mapping[str, Any]:
        if not self.there:
            raise FileNotFoundError("no such bucket")
        if mode == "create" and key in self.objects:
            raise AlreadyExistsError
        if isinstance(mode, dict):
            if key not in self.objects:
                raise NotFoundError
            if self.objects[key][1] != mode["e_tag"]:
                raise PreconditionError
        self.objects[key] = (data, f'"{len(self.objects)}-{data.decode()}"')
        return self.head(store, key)

    def head(self, store: object, key: str) -> Mapping[str, Any]:
        when = datetime(2026, 1, 1, tzinfo=timezone.utc)
        return {"e_tag": self.objects[key][1], "version": None, "last_modified": when}

    def get(self, store: object, key: str) -> SimpleNamespace:
        if key not in self.objects:
            raise FileNotFoundError(key)
        return SimpleNamespace(meta=self.head(store, key), bytes=lambda: self.objects[key][0])

    def delete(self, store: object, key: str) -> None:
        del self.objects[key]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Bucket:
    bucket = Bucket()
    client, errors, stores = (ModuleType(name) for name in ("obstore", "obstore.exceptions", "obstore.store"))
    for name in ("put", "get", "head", "delete"):
        setattr(client, name, getattr(bucket, name))
    for error in (NotFoundError, PreconditionError, AlreadyExistsError):
        setattr(errors, error.__name__, error)
    stores.from_url = bucket.from_url  # type: ignore[attr-defined]
    for module in (client, errors, stores):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return bucket


def test_an_object_is_written_on_a_condition(bucket: Bucket) -> None:
    store = ObjectStore(PATH)
    assert store.read(PATH) is None
    first = store.create(PATH, b"1")
    assert first is not None
    assert store.create(PATH, b"2") is None
    second = store.swap(PATH, b"2", first)
    assert second is not None
    assert store.swap(PATH, b"3", first) is None
    assert store.swap("s3a://bucket/none", b"3", first) is None
    found = store.read(PATH)
    assert found is not None
    assert (found.data, found.tag, found.modified) == (b"2", second, store.now(PATH))
    # What is asked for the time leaves nothing behind.
    assert list(bucket.objects) == ["derived/.freshet/earnings.lease.json"]
    bucket.there = False
    with pytest.raises(FileNotFoundError):
        store.create(PATH, b"4")


@pytest.mark.parametrize(("endpoint", "plain"), [("http://127.0.0.1:9000", True), ("https://s3.example.com", False)])
def test_a_server_without_tls_must_be_named_so(
    bucket: Bucket, endpoint: str, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    ObjectStore(PATH)
    assert bucket.url == "s3://bucket"
    assert ("allow_http" in bucket.made["client_options"]) is plain


@pytest.mark.parametrize(
    ("path", "can"),
    [
        *((f"{scheme}://a/b", True) for scheme in ("s3", "s3a", "s3n", "gs", "abfs", "abfss")),
        *((path, False) for path in ("hdfs://a/b", "viewfs://a/b", "/a/b", "file:///a/b", "oss://a/b")),
    ],
)
def test_which_stores_write_on_a_condition(path: str, can: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.storage.conditional.find_spec", lambda name: object())
    assert can_be_conditional(path) is can
    monkeypatch.setattr("freshet.storage.conditional.find_spec", lambda name: None)
    assert not can_be_conditional(path)
    assert conditional_store(path) is None
