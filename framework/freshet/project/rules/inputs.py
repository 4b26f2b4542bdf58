"""The other inputs of a pipeline: their names, their tables and how each is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from freshet.problems import Problems
from freshet.project.model.pipeline import InputSpec, TableRef
from freshet.project.rules.source import table_by_name
from freshet.project.shape.strategies import Input, seconds_of
from freshet.project.syntax.files import Place
from freshet.types.columns import PLAIN_NAME

DEFAULT_LOOKBACK = "24h"


def read_inputs(
    declared: Mapping[str, tuple[Input, Place]],
    main: TableRef | None,
    targets: Mapping[str, str],
    warehouse: Mapping[str, str],
    problems: Problems,
) -> tuple[InputSpec, ...]:
    """Check the inputs and find their tables.

    Args:
        declared: Each input as the YAML has it, with its place, by name.
        main: The main source's table, where it is known.
        targets: Paths of the project's own tables, by name.
        warehouse: Root path of each database.
        problems: Receives what is wrong.
    """
    found = []
    by_lower: dict[str, str] = {}
    for name, (item, at) in declared.items():
        other = by_lower.setdefault(name.lower(), name)
        for code, said, hint in (*_name_problems(name, other), *_strategy_problems(name, item)):
            problems.add(at.file, at.line, code, said, hint)
        table = table_by_name(item.table, at, targets, warehouse, problems)
        if table is None:
            continue
        if item.as_of == "checkpoint" and main is not None and table.path != main.path:
            problems.add(
                at.file,
                at.line,
                "BAD_VALUE",
                f"inputs.{name}.as_of: the checkpoint is a time of the main source {main.name}, not of {table.name}.",
                "Write 'as_of: run_start'.",
            )
        incremental = item.read == "incremental"
        found.append(
            InputSpec(
                name=name,
                table=table,
                read=item.read,
                line=at.line,
                lookback_seconds=(seconds_of(item.lookback or DEFAULT_LOOKBACK) or 0) if incremental else 0,
                drives=tuple(item.drives.items()),
                on=tuple((column, tuple(texts)) for column, texts in item.on.items()),
                as_of=item.as_of,
            )
        )
    return tuple(found)


def _name_problems(name: str, other: str) -> Iterator[tuple[str, str, str]]:
    said = f"'{name[:80]}' cannot be the name of an input."
    if name.upper() == "SRC":
        yield "BAD_VALUE", said, "Choose another name; SRC is the main source."
    elif not PLAIN_NAME.fullmatch(name):
        yield "BAD_NAME", said, "Use the letters A to Z, digits and '_'; no digit first."
    elif other != name:
        yield (
            "DUPLICATE_INPUT",
            f"The inputs '{other[:80]}' and '{name[:80]}' differ only by case, which SQL does not see.",
            "Rename one of them.",
        )


def _strategy_problems(name: str, item: Input) -> Iterator[tuple[str, str, str]]:
    for key, given, strategies in (
        ("lookback", item.lookback is not None, ("incremental",)),
        ("drives", bool(item.drives), ("incremental",)),
        ("on", bool(item.on), ("affected_partitions",)),
        ("as_of", item.as_of != "latest", ("snapshot", "affected_partitions")),
    ):
        if given and item.read not in strategies:
            yield (
                "CONFLICTING_SETTING",
                f"inputs.{name}.{key} goes with read: {' or '.join(strategies)}, not {item.read}.",
                f"Remove {key}, or write 'read: {strategies[0]}'.",
            )
    if item.read == "affected_partitions" and not item.on:
        yield (
            "MISSING_KEY",
            f"inputs.{name}.on is missing: which partitions a row of <SRC> needs.",
            "Write 'on: {<partition column of the input>: <column of SRC>}'.",
        )
