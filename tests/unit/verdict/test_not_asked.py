"""What follows a finding behind which nothing can be said of the rows: that it was not looked for is said, accepted or not.

The kind: an accepted reason that makes a verdict shorter than the pipeline is wrong.
"""

from __future__ import annotations

from dataclasses import replace

from freshet.verdict.describe import in_short, problems_of, verdict_json, verdict_lines
from tests.kit.verdict.case import Case, cases
from tests.kit.whole import WHOLE

ALL = {case.name: case for case in cases()}
_HEAD = {"source": "id* a b updated_at^", "target": "a* n updated_at^ _hoodie_is_deleted", "why": "", "expect": ""}
_GROUPED = "SELECT a, count(*) AS n, max(updated_at) AS updated_at, false AS _hoodie_is_deleted\nFROM <SRC>\nGROUP BY a\n"


def _case(text: str, **head: object) -> Case:
    return Case(name="it.sql", text=text, head={**_HEAD, "inputs": {}, **head})


def test_it_is_counted_and_told_with_its_cause() -> None:
    accepted = _case(_GROUPED, accepts=[{"code": "GROUP_IN_PART", "why": "so it is"}]).verdict
    assert (accepted.kind, len(accepted.not_asked)) == ("exact_if", 4)
    words = "4 further questions are not asked, because of GROUP_IN_PART (it.sql:3)"
    assert in_short(accepted).endswith(f"GROUP_IN_PART; {words}")
    lines = verdict_lines(accepted)
    assert f"{words}:" in lines
    assert [line for line in lines if "the record key (a)" in line]
    found = verdict_json(accepted)["not_asked"]
    assert (found["questions"], found["because_of"]) == (
        list(accepted.not_asked),
        [{"code": "GROUP_IN_PART", "file": "it.sql", "line": 3}],
    )
    (problem,) = problems_of(_case(_GROUPED).verdict)
    assert "not looked at" in problem.message


def test_what_is_asked_depends_on_the_pipeline() -> None:
    """Inputs that must drive; deletes that are known not to come."""
    joined = _GROUPED.replace("FROM <SRC>", "FROM <SRC> s LEFT JOIN dim d ON d.id = s.b")
    found = _case(joined, inputs={"dim": {"columns": "id* x updated_at^"}}).verdict.not_asked
    assert any("raw.dim" in question for question in found), found
    silent = _case(_GROUPED, records=False).verdict
    assert not any("deletes" in question for question in silent.not_asked), silent
    assert "DELETES_STAY" in {one.code for one in silent.findings}


def test_a_verdict_is_short_only_where_it_says_why() -> None:
    for name in list(ALL)[:: 1 if WHOLE else 4]:
        verdict = ALL[name].verdict
        stops = [one for one in verdict.findings if one.stops]
        if verdict.not_asked:
            assert stops, name
            assert (bool(verdict.scope.columns), "because of " in in_short(replace(verdict, kind="exact_if"))) == (False, True)
        if verdict.kind == "exact":
            assert (verdict.not_asked, stops) == ((), []), name
