"""The catalogue of Hudi's keys, HoodieStreamer's keys, and the checks on both."""

from __future__ import annotations

import pytest

from freshet.hudi.keys import streamer_keys
from freshet.hudi.keys.generate import infer_type
from freshet.hudi.keys.hudi_keys import canonical, catalogue, check_key
from freshet.hudi.keys.streamer_keys import check_hoodie_key, check_streamer_key, is_streamer_key

STRATEGY = streamer_keys.MISSING_CHECKPOINT_STRATEGY


KNOWN = """
    hoodie.datasource.write.recordkey.field hoodie.datasource.write.precombine.field hoodie.datasource.write.operation
    hoodie.datasource.write.partitionpath.field hoodie.index.type hoodie.bucket.index.num.buckets
    hoodie.metadata.index.column.stats.enable hoodie.upsert.shuffle.parallelism hoodie.table.cdc.enabled
    hoodie.datasource.read.incr.fallback.fulltablescan.enable hoodie.datasource.query.incremental.format
    hoodie.parquet.compression.codec hoodie.cleaner.policy hoodie.keep.min.commits hoodie.compact.inline
    hoodie.clustering.inline hoodie.write.concurrency.mode hoodie.write.lock.provider hoodie.precommit.validators
    hoodie.hbase.index.update.partition.path hoodie.metadata.record.index.enable
    hoodie.record.index.update.partition.path hoodie.datasource.write.commitmeta.key.prefix hoodie.table.name
    hoodie.payload.delete.field
"""


@pytest.mark.parametrize("key", KNOWN.split())
def test_keys_of_java_classes_scala_objects_and_older_names_are_known(key: str) -> None:
    assert canonical(key) in catalogue()


def test_the_catalogue_says_type_default_and_valid_values() -> None:
    buckets = catalogue()["hoodie.bucket.index.num.buckets"]
    assert (buckets.type, buckets.default) == ("int", "256")
    assert "MERGE_ON_READ" in catalogue()["hoodie.datasource.write.table.type"].valid_values
    assert catalogue()["hoodie.datasource.write.recordkey.field"].default is None


def test_every_older_name_leads_to_a_current_one() -> None:
    older = [name for key in catalogue().values() for name in key.alternatives]
    assert older
    assert not [name for name in older if canonical(name) not in catalogue()]


@pytest.mark.parametrize(
    ("key", "value", "code", "hint"),
    [
        ("hoodie.upsert.suffle.parallelism", "2", "UNKNOWN_KEY", "hoodie.upsert.shuffle.parallelism"),
        ("hoodie.Index.Type", "BUCKET", "UNKNOWN_KEY", "hoodie.index.type"),
        ("hoodie.cleaner.polcy", "KEEP_LATEST_COMMITS", "UNKNOWN_KEY", "hoodie.cleaner.policy"),
        ("hoodie.write.lock.dynamodb.table", "locks", "UNKNOWN_KEY", "Remove"),
        ("hoodie.index.type", "BUKET", "BAD_VALUE", "'BUCKET'"),
        ("hoodie.cleaner.policy", "NEVER", "BAD_VALUE", "KEEP_LATEST_COMMITS"),
        ("hoodie.compact.inline", "yes", "BAD_VALUE", "true or false"),
        ("hoodie.compact.inline", "", "BAD_VALUE", "true or false"),
        ("hoodie.bucket.index.num.buckets", "4.0", "BAD_VALUE", "whole number"),
        ("hoodie.bucket.index.num.buckets", "2147483648", "BAD_VALUE", "32 bits"),
        ("hoodie.bucket.index.num.buckets", "\u0664", "BAD_VALUE", "whole number"),
        ("hoodie.parquet.compression.ratio", "a tenth", "BAD_VALUE", "number"),
    ],
)
def test_a_wrong_key_or_value_is_answered_with_what_to_write(key: str, value: str, code: str, hint: str) -> None:
    problem = check_key(key, value)
    assert problem is not None
    assert problem.code == code
    assert hint in problem.hint


def test_an_unknown_key_far_from_every_name_gets_no_suggestion() -> None:
    problem = check_key("hoodie.zzz", "1")
    assert problem is not None
    assert problem.hint == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hoodie.index.type", "BUCKET"),
        ("hoodie.parquet.compression.codec", "zstd"),
        ("hoodie.cleaner.commits.retained", "10"),
        ("hoodie.compact.inline", "TRUE"),
        ("hoodie.parquet.max.file.size", "5368709120"),
        ("hoodie.index.bloom.fpp", "1e-9"),
        ("hoodie.write.num.retries.on.conflict.failures", "-1"),
        ("hoodie.table.version", "8"),
        ("hoodie.datasource.write.recordkey.field", "a,b"),
    ],
)
def test_good_values_pass(key: str, value: str) -> None:
    assert check_key(key, value) is None


def test_older_and_deprecated_names_are_accepted() -> None:
    assert canonical("hoodie.cleaner.policy") == "hoodie.clean.policy"
    assert check_key("hoodie.cleaner.policy", "KEEP_LATEST_COMMITS") is None
    assert check_key("hoodie.datasource.write.payload.class", "org.example.Payload") is None


def test_both_prefixes_of_the_streamer_mean_the_same_key() -> None:
    old = "hoodie.deltastreamer.source.hoodieincr.path"
    assert is_streamer_key(old)
    assert streamer_keys.canonical(old) == streamer_keys.SOURCE_PATH
    assert check_streamer_key(old, "/data/raw/trips") is None


def test_hudi_keys_with_an_old_streamer_name_stay_hudi_keys() -> None:
    old = "hoodie.deltastreamer.keygen.timebased.timezone"
    assert not is_streamer_key(old)
    assert streamer_keys.canonical(old) == "hoodie.keygen.timebased.timezone"
    assert check_hoodie_key(old, "UTC") is None


@pytest.mark.parametrize(
    ("key", "value", "code", "hint"),
    [
        (STRATEGY, "READ_LATST", "BAD_VALUE", "READ_LATEST"),
        (streamer_keys.NUM_INSTANTS, "0", "BAD_VALUE", "from 1"),
        (streamer_keys.NUM_INSTANTS, "many", "BAD_VALUE", "whole number"),
        (streamer_keys.SOURCE_PATH, " ", "BAD_VALUE", "path"),
        ("hoodie.deltastreamer.source.hoodieincr.num_instant", "5", "UNKNOWN_KEY", streamer_keys.NUM_INSTANTS),
        ("hoodie.streamer.source.hoodieincr.read_latest_on_missing_ckpt", "true", "NOT_SUPPORTED", STRATEGY),
        ("hoodie.streamer.transformer.sql", "select 1", "NOT_SUPPORTED", "transform:"),
        ("hoodie.deltastreamer.schemaprovider.target.schema.file", "a.avsc", "NOT_SUPPORTED", "DDL"),
        ("hoodie.streamer.jdbc.url", "jdbc:x", "NOT_SUPPORTED", streamer_keys.SOURCE_PATH),
        ("hoodie.streamer.ingestion.db.t.configFile", "f", "NOT_SUPPORTED", "pipelines/"),
    ],
)
def test_streamer_keys_are_answered_with_what_to_write(key: str, value: str, code: str, hint: str) -> None:
    problem = check_hoodie_key(key, value)
    assert problem is not None
    assert problem.code == code
    assert hint in problem.hint


@pytest.mark.parametrize("value", ["READ_UPTO_LATEST_COMMIT", "READ_LATEST"])
def test_both_strategies_for_a_missing_checkpoint_pass(value: str) -> None:
    assert check_streamer_key(STRATEGY, value) is None


@pytest.mark.parametrize(
    ("declared", "value", "default", "expected"),
    [
        ("Integer", 3, "3", "int"),
        ("Long", 3, "3", "long"),
        ("String", "3", "3", "long"),
        ("String", "false", "false", "boolean"),
        ("Object", True, "true", "boolean"),
        ("String", "0.000000001", "0.000000001", "double"),
        ("String", "1.0.0", "1.0.0", "string"),
        ("String", None, None, "string"),
    ],
)
def test_a_key_type_comes_from_java_or_else_from_the_default(
    declared: str, value: object, default: str | None, expected: str
) -> None:
    assert infer_type(declared, value, default) == expected
