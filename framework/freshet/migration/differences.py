"""In what a table differs from what its files declare, and how large it is. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from freshet.hudi.table import TableState
from freshet.plan.schema import evolved, schema_differences
from freshet.plan.target import made_otherwise
from freshet.project.model.pipeline import PipelineSpec


@dataclass(frozen=True)
class Difference:
    """One thing in which a table differs from what its files declare.

    Args:
        code: By which runs are refused for it; COLUMN_ADDED or COLUMN_WIDENED where the next run would make it.
        words: What differs.
    """

    code: str
    words: str


def differences(spec: PipelineSpec, target: TableState) -> tuple[Difference, ...]:
    """Return in what a table differs from what its pipeline declares; those that the next run would make stand last.

    Args:
        spec: The pipeline.
        target: The table.
    """
    spec = evolved(spec, target)
    found: list[Difference] = []
    for error in made_otherwise(spec, target):
        columns = error.details.get("differences")
        words = columns if isinstance(columns, list) else [error.message.removeprefix(f"{spec.name}: ")]
        found += [Difference(error.code, str(one)) for one in words]
    found += [
        Difference(
            "COLUMN_ADDED" if one.change == "add" else "COLUMN_WIDENED",
            f"column {one.column}: {one.before or 'none'} -> {one.after}",
        )
        for one in schema_differences(spec, target)[0]
    ]
    return tuple(found)


def needs_migration(found: tuple[Difference, ...]) -> bool:
    """Say whether there is a difference that no run makes."""
    return any(not one.code.startswith("COLUMN_") for one in found)


def size_of(table: TableState) -> tuple[int, int]:
    """Return about how many rows and bytes a table has, by its commits' own metadata, the archive included."""
    rows = size = 0
    closed: set[str] = set()
    for instant, info in table.newest_first():
        replaced = set(info.replaced_ids)
        if instant.action != "replacecommit" or info.operation == "CLUSTER" or not replaced:
            rows += 0 if info.operation in ("COMPACT", "LOG_COMPACT", "CLUSTER") else info.inserts - info.deletes
        else:
            # What it replaced counts no more, and nothing tells how many rows that were: the next ones are not looked at.
            rows += info.inserts
        whole: set[str] = set()
        for path, bytes_ in info.files:
            name = path.rpartition("/")[2]
            group = name.lstrip(".").partition("_")[0]
            if group not in closed:
                size += bytes_
            if not name.startswith("."):
                whole.add(group)
        closed |= whole | replaced
        if info.operation == "INSERT_OVERWRITE_TABLE":
            break
    return max(0, rows), size
