"""The text is valid in Prometheus' own format."""

from __future__ import annotations

import re

import pytest

from freshet.metrics.samples import Sample, samples_of
from freshet.metrics.text import number, text_of
from freshet.secrets import REDACTOR
from tests.kit.memory import SOURCE, a_checkpoint, a_commit, a_table_state, a_target
from tests.unit.metrics.kit import BEGIN, a_run, looked_at, promising, with_runs, working

_SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (-?[0-9.]+(?:e[+-]?[0-9]+)?)')


def faults_of(text: str) -> list[str]:
    """Say what of a text a parser would refuse: every line of it, and that each metric stands in one block."""
    *lines, last = text.removesuffix("\n").split("\n")
    found = [] if last == "# EOF" else ["it does not end with # EOF"]
    seen, current = set[str](), ""
    for line in lines:
        if line.startswith("#"):
            kind, name = re.fullmatch(r"# (HELP|TYPE|UNIT) ([a-z_]+) .+", line).groups()  # type: ignore[union-attr]
            if name != current and (name in seen or kind != "HELP"):
                found.append(f"{line}: its block is not begun")
            current = name
            seen.add(name)
        elif not (match := _SAMPLE.fullmatch(line)) or match[1] != current:
            found.append(line)
    return found


def test_every_metric_of_a_busy_pipeline() -> None:
    found = looked_at(a_table_state([a_commit(10), a_commit(20)]), a_target((15, a_checkpoint(10))))
    found = promising(working(with_runs(found, a_run(12)), BEGIN), 30, 60)
    text = text_of(samples_of([found], "prod"))
    assert faults_of(text) == []
    assert f'freshet_source_waiting_rows{{env="prod",pipeline="earnings",input="{SOURCE.name}"}} 10\n' in text
    assert "# UNIT freshet_source_waiting_rows rows\n" in text


def test_counters_are_told_as_such() -> None:
    found = looked_at(a_table_state([a_commit(10)]), a_target((15, a_checkpoint(10))))
    text = text_of(samples_of([found], "prod"))
    assert "# TYPE freshet_runs_total counter\n" in text
    assert "# TYPE freshet_pipeline_refused gauge\n" in text
    assert "# UNIT freshet_run_duration_seconds_total seconds\n" in text


def test_what_a_label_holds_is_escaped() -> None:
    labels = (("env", "prod"), ("pipeline", "p"), ("owner", 'a "team"\\\n'), ("target", "t"))
    text = text_of([Sample(name="freshet_pipeline_info", labels=labels, value=1)])
    assert 'owner="a \\"team\\"\\\\\\n"' in text
    assert faults_of(text) == []


def test_a_faulty_text_is_found() -> None:
    assert faults_of("a\n")
    assert faults_of('# HELP a b\n# TYPE a gauge\nc{d="e"} 1\n# EOF\n') == ['c{d="e"} 1']


@pytest.mark.parametrize(("value", "text"), [(1, "1"), (0.0, "0"), (1785579300.125, "1785579300.125"), (-2.0, "-2")])
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


def test_a_secret_in_a_label_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, empty in (("_names", {}), ("_forms", {}), ("_parts", {}), ("_pattern", None)):
        monkeypatch.setattr(REDACTOR, name, empty)
    REDACTOR.register("TOKEN", "hunter2-and-more")
    found = looked_at(a_table_state([a_commit(10)]), owner="hunter2-and-more")
    text = text_of(samples_of([found], "prod"))
    assert "hunter2" not in text
    assert "${env.TOKEN}" in text
