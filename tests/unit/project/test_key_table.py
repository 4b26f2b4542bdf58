"""Every key of Hudi's catalogue has one row that says what freshet does with it; what is refused is refused in a project."""

from __future__ import annotations

import pytest

from freshet.hudi.keys import key_table, streamer_keys
from freshet.hudi.keys.hudi_keys import catalogue
from freshet.hudi.keys.key_table import check_stance, row_of, rows
from tests.unit.project.conftest import Check, seen
from tests.unit.project.payments import YML_FILE, yml


def test_every_key_has_one_row_and_every_row_a_key() -> None:
    """A key that a new Hudi brings is refused until somebody has thought about it."""
    used = {key: row_of(key) for key in catalogue()}
    assert [key for key, row in used.items() if row is None] == []
    assert sorted(set(rows()) - {row.name for row in used.values() if row is not None}) == []
    every = [name for text in (key_table._HONOURED, key_table._HARMLESS) for name in text.split()]
    every += [name.partition("=")[0] for _, names in key_table._REFUSED for name in names.split()]
    assert sorted({name for name in every if every.count(name) > 1}) == []


def test_every_refusal_says_why() -> None:
    assert [row.name for row in rows().values() if row.stance in ("refused", "owned") and len(row.reason) < 20] == []


def test_a_key_in_no_row_is_refused() -> None:
    problem = check_stance("hoodie.of.a.later.version", "1")
    assert problem is not None
    assert problem.code == "NOT_SUPPORTED"


def test_each_key_by_its_row() -> None:
    """Hudi's default of a refused key passes, where the row names no values of its own; another value does not."""
    wrong = []
    for key, known in catalogue().items():
        row = row_of(key)
        assert row is not None
        refuses = row.stance == "refused"
        passing = (known.default or "x",) if not refuses else row.passes or () if known.default is None else (known.default,)
        passing = row.passes if refuses and row.passes is not None else passing
        wrong += [(key, value) for value in passing if check_stance(key, value) is not None]
        wrong += [(key, "another")] if (check_stance(key, "another") is not None) != refuses else []
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("hoodie.datasource.write.insert.drop.duplicates: true", ["NOT_SUPPORTED"]),
        ("hoodie.datasource.write.insert.drop.duplicates: false", []),
        ("hoodie.allow.empty.commit: false", ["NOT_SUPPORTED"]),
        ("hoodie.allow.empty.commit: true", []),
        ("hoodie.clustering.inline: true", ["CONFLICTING_SETTING"]),
        ("hoodie.clustering.schedule.inline: true", ["CONFLICTING_SETTING"]),
        ("hoodie.datasource.clustering.inline.enable: true", ["CONFLICTING_SETTING"]),
        ("hoodie.datasource.read.incr.path.glob: a/*", ["NOT_SUPPORTED"]),
        ("hoodie.datasource.read.incr.filters: a", ["NOT_SUPPORTED"]),
        ("hoodie.datasource.merge.type: skip_merge", ["NOT_SUPPORTED"]),
        ("hoodie.deltastreamer.keygen.timebased.output.dateformat: yyyy", ["NOT_SUPPORTED"]),
        ("hoodie.errortable.enable: true", ["NOT_SUPPORTED"]),
        ("hoodie.compaction.payload.class: org.apache.hudi.common.model.PartialUpdateAvroPayload", ["NULL_KEEPS_OLD_VALUE"]),
        ("hoodie.cleaner.policy.failed.writes: NEVER", ["NOT_SUPPORTED"]),
        ("hoodie.cleaner.policy.failed.writes: LAZY", []),
        ("hoodie.write.lock.provider: org.apache.hudi.client.transaction.lock.InProcessLockProvider", ["NOT_SUPPORTED"]),
        ("hoodie.write.lock.provider: org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider", []),
        ("hoodie.partition.ttl.inline: true", ["NOT_SUPPORTED"]),
        ("hoodie.table.timeline.timezone: UTC", []),
        ("hoodie.upsert.shuffle.parallelism: 4", []),
    ],
)
def test_in_a_project(problems_of: Check, line: str, codes: list[str]) -> None:
    assert seen(problems_of({YML_FILE: yml(f"  {line}")})) == [(YML_FILE, 7, code) for code in codes]


def test_a_config_and_a_ddl_are_held_against_it_too(problems_of: Check) -> None:
    config = "hoodie: {hoodie.allow.empty.commit: false}\n"
    found = problems_of({"configs/local.yml": config})
    assert seen(found) == [("configs/local.yml", 1, "NOT_SUPPORTED")]


@pytest.mark.parametrize(
    ("line", "said", "hint"),
    [
        ("hoodie.cleaner.policy.failed.writes: NEVER", "hoodie.cleaner.policy.failed.writes: NEVER", "timeline"),
        ("hoodie.deltastreamer.keygen.timebased.timezone: CET", "hoodie.deltastreamer.keygen.timebased.timezone: CET", "SQL"),
        (
            "hoodie.deltastreamer.source.hoodieincr.read_latest_on_missing_ckpt: true",
            "hoodie.deltastreamer.",
            "hoodie.deltastreamer.source.hoodieincr.missing.checkpoint.strategy: READ_LATEST",
        ),
        ("hoodie.streamer.source.hoodieincr.read_latest_on_missing_ckpt: true", "hoodie.streamer.", "hoodie.streamer.source"),
        ("hoodie.deltastreamer.source.hoodieincr.read_latest_on_missing_ckpt: false", "hoodie.deltastreamer.", "Remove it"),
        ("hoodie.streamer.checkpoint.force.skip: false", "force.skip", "it is false"),
        ("--op: UPSERT", "--op", "hoodie.datasource.write.operation"),
        ("--continuous: ''", "--continuous", "--drain"),
        ("--checkpoint: '2026'", "--checkpoint", "freshet checkpoint set"),
    ],
)
def test_advice_speaks_of_the_line_as_it_stands(problems_of: Check, line: str, said: str, hint: str) -> None:
    """By the alias, the prefix and the value that the file has; HoodieStreamer's options have an answer."""
    (problem,) = problems_of({YML_FILE: yml(f"  {line}")})
    assert said in problem.message
    assert hint in problem.hint
    assert "READ_LATEST" not in problem.hint or "true" in line


@pytest.mark.parametrize(
    "text",
    [
        "hoodie.index.type=BUCKET\nhoodie.a=b\n",
        "hoodie:\n  hoodie.index.type: BUCKET\n  hoodie.index.type=BUCKET\n",
        "hoodie:\n  hoodie.index.type=BUCKET\n  --hoodie-conf hoodie.a=b\n",
    ],
)
def test_a_line_of_a_properties_file_is_known(problems_of: Check, text: str) -> None:
    (problem, *_) = problems_of({"configs/local.yml": text})
    assert "=" in problem.hint
    assert ":" in problem.hint


def test_an_option_of_hoodiestreamer_at_the_top_has_an_answer(problems_of: Check) -> None:
    (problem,) = problems_of({YML_FILE: yml() + "--op: UPSERT\n"})
    assert "hoodie.datasource.write.operation" in problem.hint


def test_streamer_keys_stay_where_they_are() -> None:
    assert streamer_keys.check_hoodie_key("hoodie.streamer.source.hoodieincr.num_instants", "5") is None
