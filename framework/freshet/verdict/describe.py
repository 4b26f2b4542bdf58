"""A verdict in words, as JSON, and as problems of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from freshet.errors import Problem, SpecError
from freshet.verdict.result import Example, Finding, Granted, Verdict

_WORDS = {"exact": "exact", "exact_if": "exact if", "inexact": "inexact"}
_FACTS = {
    "record_key": "has the record key",
    "ordering": "is ordered by",
    "rows_stay": "has its partition columns within",
    "never_null": "has no null in",
    "no_moments": "has no TIMESTAMP, of which two may have one text, among",
    "records_changes": "keeps change data, by which its deletes are seen",
}


def in_short(verdict: Verdict) -> str:
    """Return a verdict in one line: ``exact if LOOKBACK_IS_BOUNDED is accepted``."""
    codes = dict.fromkeys(one.code for one in verdict.findings)
    match verdict.kind:
        case "exact":
            return "exact: the increments equal a recompute"
        case "exact_if":
            return f"exact if what is accepted does not happen: {', '.join(codes)}{_unasked(verdict, '; ')}"
        case _:
            open_ = dict.fromkeys(one.code for one in verdict.findings if not one.accepted)
            return f"inexact: {', '.join(open_)}"


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return a verdict with its reasons, examples and what it takes for granted, as lines."""
    lines = [in_short(verdict)]
    for one in verdict.findings:
        lines.append(f"{one.file}:{one.line}:{one.column}: {one.code}: {one.message}")
        if one.accepted:
            lines.append(f"  accepted: {one.accepted}")
            continue
        if one.example is not None:
            lines.append(f"  example: {example_in_words(one.example)}")
        if one.hint:
            lines.append(f"  instead: {one.hint}")
    if verdict.not_asked:
        lines.append(f"{_unasked(verdict)}:")
        lines += [f"  {question}" for question in verdict.not_asked]
    for granted in verdict.granted:
        table = "the source" if granted.table == "SRC" else granted.table
        columns = ", ".join(granted.columns)
        if granted.fact == "no_separators":
            lines.append(f"taken for granted, and no run can tell: no value of {columns} in {table} holds {_in_words(granted)}")
            continue
        fact = f"{_FACTS[granted.fact]} {columns}".rstrip()
        lines.append(f"taken for granted, as nothing tells it here: {table} {fact}; a run looks at the table")
    lines += [f"accepts {code}, of which nothing was found: it may go" for code in verdict.unused]
    return lines


def example_in_words(example: Example) -> str:
    """Return an example in one sentence."""
    table = "<SRC>" if example.table.upper() == "SRC" else example.table
    match example.change:
        case "update" if example.before and example.after and dict(example.before) != dict(example.after):
            change = f"a row of {table} goes from {_values(example.before)} to {_values(example.after)}"
        case "update":
            change = f"a row of {table}{_with(example.before)} changes"
        case "insert":
            change = f"a row of {table}{_with(example.after)} comes"
        case "delete":
            change = f"a row of {table}{_with(example.before)} is deleted"
        case _:
            change = "the next run"
    return f"{change}: a recompute {example.recompute}, the target {example.target}."


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as a JSON-serialisable mapping."""
    return {
        "verdict": verdict.kind,
        "findings": [_finding(one) for one in verdict.findings],
        "scope": {
            "columns": [{"name": c.name, "carried": dict(c.carried)} for c in verdict.scope.columns],
            "why_none": verdict.scope.why_none,
        },
        "granted": [asdict(one) for one in verdict.granted],
        "unused_accepts": list(verdict.unused),
        "not_asked": {"questions": list(verdict.not_asked), "because_of": _because_of(verdict)},
    }


def problems_of(verdict: Verdict) -> list[Problem]:
    """Return what keeps a pipeline from being valid: the reasons that nobody accepts."""
    return [
        Problem(
            file=one.file,
            line=one.line,
            code=one.code,
            message=one.message
            + (f" For example: {example_in_words(one.example)}" if one.example else "")
            + (
                " What comes behind it is not looked at, and may hold further reasons."
                if one.stops and verdict.not_asked
                else ""
            ),
            hint=f"{one.hint} Or accept it: accepts: [{{code: {one.code}, why: ...}}]"
            if "ccept it" not in one.hint
            else one.hint,
        )
        for one in verdict.findings
        if not one.accepted
    ]


def refuse_inexact(verdicts: Mapping[str, Verdict], others: Iterable[Problem] = ()) -> None:
    """Refuse pipelines whose increments do not equal a recompute.

    Args:
        verdicts: What is said of each.
        others: What else is wrong with them.

    Raises:
        SpecError: With every reason that nobody accepts.
    """
    problems = [*others, *(problem for verdict in verdicts.values() for problem in problems_of(verdict))]
    if problems:
        raise SpecError(problems)


def _in_words(granted: Granted) -> str:
    characters = " or ".join(f"'{one}'" for one in granted.without)
    return f"{characters}, with which the record key puts them together"


def _unasked(verdict: Verdict, begin: str = "") -> str:
    """Return in words how many questions are not asked, and because of what; empty where each of them is."""
    count = len(verdict.not_asked)
    if not count:
        return ""
    questions = "1 further question is" if count == 1 else f"{count} further questions are"
    places = ", ".join(f"{one['code']} ({one['file']}:{one['line']})" for one in _because_of(verdict))
    return f"{begin}{questions} not asked, because of {places}"


def _because_of(verdict: Verdict) -> list[dict[str, Any]]:
    stops = [one for one in verdict.findings if one.stops] if verdict.not_asked else []
    return [{"code": one.code, "file": one.file, "line": one.line} for one in stops]


def _finding(one: Finding) -> dict[str, Any]:
    found = {name: value for name, value in asdict(one).items() if name != "example"}
    return {**found, "example": asdict(one.example) if one.example else None}


def _values(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(values.items()))


def _with(values: Mapping[str, str]) -> str:
    return f" with {_values(values)}" if values else ""
