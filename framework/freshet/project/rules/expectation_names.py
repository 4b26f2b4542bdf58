"""Great Expectations' names and arguments, and suite files: checked without importing GX, which takes seconds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from freshet.problems import did_you_mean

Kind = Literal["row", "aggregate", "unsupported"]

# What says how GX shows or stores a result, not what is expected. Suites exported by GX 0.18 have these among the arguments.
IGNORED = frozenset(
    (
        "auto",
        "batch_id",
        "catch_exceptions",
        "description",
        "id",
        "include_config",
        "library_metadata",
        "meta",
        "notes",
        "profiler_config",
        "rendered_content",
        "result_format",
        "severity",
        "windows",
    )
)
# Queries and other tables: freshet's own checks do this, with every problem of the SQL at its line.
SQL_INSTEAD = frozenset(
    (
        "expect_query_results_to_match_comparison",
        "expect_table_row_count_to_equal_other_table",
        "unexpected_rows_expectation",
    )
)
# GX compares each row with the one before it; which one that is differs from run to run, because a batch has no order.
NEEDS_ORDER = frozenset(("expect_column_values_to_be_increasing", "expect_column_values_to_be_decreasing"))
CATALOGUE_FILE = Path(__file__).with_name("expectation_names.json")


@dataclass(frozen=True)
class Known:
    """One expectation of the pinned release.

    Args:
        kind: ``row`` where GX judges single rows, ``aggregate`` where it judges a figure of the whole batch,
            ``unsupported`` where it can do neither on Spark, or freshet has a check of its own.
        required: Arguments that must be given.
        optional: The other arguments.
    """

    kind: Kind
    required: tuple[str, ...]
    optional: tuple[str, ...]


@cache
def catalogue() -> Mapping[str, Known]:
    """Return every expectation of the pinned release of GX by its name."""
    content = json.loads(CATALOGUE_FILE.read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            name: Known(facts["kind"], tuple(facts["required"]), tuple(facts["optional"]))
            for name, facts in content["expectations"].items()
        }
    )


def parsed(item: object) -> tuple[str, dict[str, object]]:
    """Return an expectation's name and arguments.

    Args:
        item: ``{expect_...: {argument: value}}`` as in the YAML, or ``{type: expect_..., kwargs: {...}}`` as GX exports it.

    Raises:
        ValueError: It is neither.
    """
    if not isinstance(item, Mapping):
        raise ValueError("an expectation is a name with its arguments")
    if "type" in item or "expectation_type" in item:
        name, given = item.get("type", item.get("expectation_type")), item.get("kwargs")
    elif len(item) == 1:
        name, given = next(iter(item.items()))
    else:
        raise ValueError(f"an expectation is one name with its arguments, and here are {len(item)}")
    if not isinstance(name, str):
        raise ValueError("an expectation's name is a text")
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"{name} takes its arguments by name")
    return name, {str(key): value for key, value in (given or {}).items() if key not in IGNORED}


def check_names(expectations: Sequence[object]) -> list[tuple[int, str, str]]:
    """Find what is wrong with expectations as they are written, without importing GX.

    Args:
        expectations: Each in one of the forms of ``parsed``.

    Returns:
        For each problem the expectation's index, a sentence that says what is wrong, and what to write instead or nothing.
    """
    found: list[tuple[int, str, str]] = []
    for index, item in enumerate(expectations):
        try:
            name, given = parsed(item)
        except ValueError as error:
            found.append((index, f"{error}.", "Write 'expect_column_values_to_not_be_null: {column: fare}'."))
            continue
        found += [(index, problem, hint) for problem, hint in _problems(name, given)]
    return found


def _problems(name: str, given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    known = catalogue().get(name)
    supported = [candidate for candidate, facts in catalogue().items() if facts.kind != "unsupported"]
    if known is None:
        yield f"unknown expectation '{name}'.", did_you_mean(name, supported)
        return
    if name in SQL_INSTEAD:
        yield f"'{name}' runs a query of its own or reads another table.", "Write it as a SQL check of the pipeline."
        return
    if name in NEEDS_ORDER:
        yield f"'{name}' needs an order, and the rows of a batch have none.", "Write a SQL check with lag() over a column."
        return
    if known.kind == "unsupported":
        yield f"'{name}' cannot be evaluated on Spark by Great Expectations.", did_you_mean(name, supported)
        return
    arguments = (*known.required, *known.optional)
    for argument, value in given.items():
        if argument not in arguments:
            yield f"{name} has no argument '{argument}'.", did_you_mean(argument, arguments)
        elif isinstance(value, Mapping) and "$PARAMETER" in value:
            yield (
                f"{name}: '{argument}' is the suite parameter {value['$PARAMETER']!r}, which nobody fills in here.",
                "Write the value.",
            )
    for argument in known.required:
        if argument not in given:
            yield f"{name} needs the argument '{argument}'.", ""


def suite_of(text: str) -> list[dict[str, object]]:
    """Return the expectations of a suite file that GX exported, in the form of GX 1.x.

    Args:
        text: JSON of an ``ExpectationSuite`` of GX 1.x or 0.18.

    Raises:
        ValueError: It is not such a file.
    """
    try:
        suite = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error}") from error
    listed = suite.get("expectations") if isinstance(suite, dict) else None
    if not isinstance(listed, list):
        raise ValueError("no suite of Great Expectations: it has no list 'expectations'")
    found: list[dict[str, object]] = []
    for number, item in enumerate(listed):
        try:
            name, given = parsed(item)
        except ValueError as error:
            raise ValueError(f"expectation {number + 1}: {error}") from error
        found.append({"type": name, "kwargs": given, "meta": item.get("meta") or {}})
    return found
