"""Which pipeline feeds which, read from the tables they name: order, cycles, and two writers of one table."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from freshet.problems import Problems
from freshet.project.syntax.files import Place


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """What lineage needs of one pipeline.

    Args:
        name: The pipeline.
        place: Where a problem of its lineage is reported.
        target: Normal path of the table that it writes; empty where it is not known.
        reads: Normal paths of the tables that it reads; its own target, which a join with what stands there may read, is
            left out.
        owns: Lower-case names of the columns that it writes, where it names them; None where it writes whole rows.
    """

    name: str
    place: Place
    target: str
    reads: frozenset[str]
    owns: frozenset[str] | None = None


def upstream_of(pipelines: Sequence[Neighbour]) -> dict[str, tuple[str, ...]]:
    """Return for each pipeline the names of those whose targets it reads, itself included, sorted."""
    writers: dict[str, list[str]] = {}
    for pipeline in pipelines:
        if pipeline.target:
            writers.setdefault(pipeline.target, []).append(pipeline.name)
    return {p.name: tuple(sorted({writer for path in p.reads for writer in writers.get(path, ())})) for p in pipelines}


def check_lineage(pipelines: Sequence[Neighbour], selected: Collection[str], problems: Problems) -> None:
    """Report two writers of one table and cycles, where a selected pipeline is among them.

    Args:
        pipelines: All pipelines of the project.
        selected: Names of those that were asked for.
        problems: Receives DUPLICATE_TARGET, OVERLAPPING_COLUMNS and CYCLE.
    """
    writers: dict[str, list[Neighbour]] = {}
    for pipeline in sorted((p for p in pipelines if p.target), key=lambda p: p.name):
        writers.setdefault(pipeline.target, []).append(pipeline)
    for together in writers.values():
        for one, other in combinations(together, 2):
            if {one.name, other.name} & set(selected):
                _check_owners(one, other, problems)
    places = {p.name: p.place for p in pipelines}
    for loop in _cycles(upstream_of(pipelines)):
        if set(loop) & set(selected):
            place = places[loop[0]]
            problems.add(
                place.file,
                place.line,
                "CYCLE",
                f"Pipelines feed each other in a circle: {' -> '.join((*loop, loop[0]))}.",
                "Let one of them read another table.",
            )


def co_writers_of(pipelines: Sequence[Neighbour]) -> dict[str, tuple[str, ...]]:
    """Return for each pipeline the names of the others that write its target, sorted."""
    writers: dict[str, list[str]] = {}
    for pipeline in pipelines:
        writers.setdefault(pipeline.target or pipeline.name, []).append(pipeline.name)
    return {p.name: tuple(sorted(set(writers[p.target or p.name]) - {p.name})) for p in pipelines}


def _check_owners(one: Neighbour, other: Neighbour, problems: Problems) -> None:
    at = other.place
    if one.owns is None or other.owns is None:
        whole = one.name if one.owns is None else other.name
        problems.add(
            at.file,
            at.line,
            "DUPLICATE_TARGET",
            f"Pipeline '{other.name}' writes the same table as '{one.name}' ({other.target}), and '{whole}' writes whole rows.",
            "Give each pipeline a target of its own, or columns of its own: 'write: {strategy: merge, columns: [...]}'.",
        )
    elif one.owns & other.owns:
        problems.add(
            at.file,
            at.line,
            "OVERLAPPING_COLUMNS",
            f"Pipelines '{one.name}' and '{other.name}' both own {', '.join(sorted(one.owns & other.owns))} of {other.target}.",
            "Let one of them own it: write.columns.",
        )


def in_order(upstream: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the pipelines, upstream before downstream, ties by name.

    Args:
        upstream: What check_lineage found free of cycles; members of a cycle are left out.
    """
    waiting = {name: {up for up in ups if up != name and up in upstream} for name, ups in upstream.items()}
    ready = [name for name, ups in waiting.items() if not ups]
    heapq.heapify(ready)
    downstream: dict[str, list[str]] = {}
    for name, ups in waiting.items():
        for up in ups:
            downstream.setdefault(up, []).append(name)
    order = []
    while ready:
        name = heapq.heappop(ready)
        order.append(name)
        for below in downstream.get(name, ()):
            waiting[below].discard(name)
            if not waiting[below]:
                heapq.heappush(ready, below)
    return order


def _cycles(upstream: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Find one loop through each group of pipelines that feed each other, written from feeder to fed."""
    found: list[tuple[str, ...]] = []
    done: set[str] = set()
    for start in sorted(upstream):
        trail: list[str] = []
        # (name, next feeders to look at): an own stack, because a chain of pipelines may be longer than Python's.
        stack = [(start, iter(upstream[start]))] if start not in done else []
        trail = [start] if stack else []
        while stack:
            name, feeders = stack[-1]
            feeder = next(feeders, None)
            if feeder is None:
                stack.pop()
                trail.pop()
                done.add(name)
            elif feeder in trail:
                loop = trail[trail.index(feeder) :][::-1]
                lowest = loop.index(min(loop))
                found.append((*loop[lowest:], *loop[:lowest]))
            elif feeder not in done:
                stack.append((feeder, iter(upstream.get(feeder, ()))))
                trail.append(feeder)
    return list(dict.fromkeys(found))
