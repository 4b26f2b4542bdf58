"""Which pipeline feeds which, read from the tables they name: order, cycles, and two writers of one table."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from framework.spec.files import Place
from framework.spec.suggest import Problems


@dataclass(frozen=True)
class Neighbour:
    """What lineage needs of one pipeline.

    Args:
        name: The pipeline.
        place: Where a problem of its lineage is reported.
        target: Normal path of the table that it writes; empty where it is not known.
        reads: Normal paths of the tables that it reads.
    """

    name: str
    place: Place
    target: str
    reads: frozenset[str]


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
        problems: Receives DUPLICATE_TARGET and CYCLE.
    """
    first: dict[str, Neighbour] = {}
    for pipeline in sorted(pipelines, key=lambda p: p.name):
        other = first.setdefault(pipeline.target, pipeline)
        if pipeline.target and other is not pipeline and {other.name, pipeline.name} & set(selected):
            problems.add(
                pipeline.place.file,
                pipeline.place.line,
                "DUPLICATE_TARGET",
                f"Pipeline '{pipeline.name}' writes the same table as '{other.name}' ({pipeline.target}).",
                "Give each pipeline a target of its own.",
            )
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
