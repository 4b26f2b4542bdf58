"""A pipeline's account: what became of all that was committed to its sources, from timelines and checkpoints alone. No JVM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from freshet.account.model import Account, Edge, Fed, Take
from freshet.account.of_table import fed_by, repeats
from freshet.account.of_topics import ranges_by
from freshet.account.steps import Step, steps_of
from freshet.errors import FreshetError
from freshet.hudi.checkpoint import FINGERPRINT_KEY, MAIN
from freshet.hudi.instants import UTC_ZONE, readable, zone_of
from freshet.hudi.table import StateReader
from freshet.project.model.files import FILES
from freshet.project.model.kafka import KAFKA
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.secrets import redact
from freshet.sources.hudi.reads import counted

# Of these the rows that came in are those of the commits.
_BY_COMMITS = ("increment", "")


def accounts_of(specs: Sequence[PipelineSpec], state: StateReader, since: str = "") -> tuple[Account, ...]:
    """Return the accounts of pipelines, each held against those of the pipelines upstream among them.

    Args:
        specs: The pipelines.
        state: Reader of the tables, which reads each of them once.
        since: Completion time from which on commits count; empty for all that timelines tell.
    """
    found = {spec.name: _account(spec, state, since) for spec in specs}
    makers: dict[str, list[Account]] = {}
    for spec in specs:
        makers.setdefault(same_place(spec.target.ref.path), []).append(found[spec.name])
    return tuple(replace(found[spec.name], unclosed=tuple(_unclosed(spec, found[spec.name], makers, since))) for spec in specs)


def _account(spec: PipelineSpec, state: StateReader, since: str) -> Account:
    name, table = spec.name, spec.target.ref.name
    try:
        target = state.table(spec.target.ref)
        steps = steps_of(spec, target, since) if target is not None else ()
        edges = tuple(_edges(spec, state, steps, since))
        zone = zone_of(target) if target is not None else UTC_ZONE
        takes = tuple(_takes(steps, edges, spec.fingerprint))
        return Account(pipeline=name, target=table, zone=zone, edges=edges, takes=takes, leaves_out=_leaves_out(spec, takes))
    except FreshetError as error:
        return Account(pipeline=name, target=table, error=redact(f"{error.code}: {error.message}"))


def _edges(spec: PipelineSpec, state: StateReader, steps: Sequence[Step], since: str) -> Iterator[Edge]:
    if spec.source.kind == KAFKA:
        yield Edge(input=MAIN, table=spec.source.table.name, fed=ranges_by(steps, MAIN), unit="range")
    elif spec.source.kind == FILES:
        why = "of the files that a run has read its checkpoint keeps no names"
        yield Edge(input=MAIN, table=spec.source.table.name, why=why)
    else:
        yield _edge(MAIN, spec.source.table, state, steps, since)
    for one in spec.inputs:
        if one.drives:
            # Before its first checkpoint all of it is news, and no commit is.
            known = tuple(step for step in steps if step.position(one.name) is not None)
            yield _edge(one.name, one.table, state, known, since)


def _edge(name: str, ref: TableRef, state: StateReader, steps: Sequence[Step], since: str) -> Edge:
    source = state.table(ref)
    if source is None:
        return Edge(input=name, table=ref.name, why=f"there is no table at {redact(ref.path)}")
    return Edge(input=name, table=ref.name, zone=zone_of(source), fed=fed_by(source, steps, name, since))


def _leaves_out(spec: PipelineSpec, takes: Sequence[Take]) -> tuple[str, ...]:
    if not any(take.by_logic for take in takes):
        return ()
    # The parser takes a tenth of a second to load.
    from freshet.account.leaves_out import leaves_out

    return leaves_out(spec)


def _takes(steps: Sequence[Step], edges: Sequence[Edge], fingerprint: str) -> Iterator[Take]:
    taken = [_by_commit(edge.fed) for edge in edges]
    repeated = {
        step.instant.completed: f"it read what {earlier.when} had read: its rows were applied twice"
        for earlier, step in pairwise(steps)
        if step.info.rows and repeats(earlier, step, MAIN)
    }
    for step in steps:
        commit = step.instant.completed
        fed = taken[0].get(commit, ())
        if not (fed or commit in repeated):
            continue
        # What other inputs drive are rows of the main source that no commit of it counts.
        alone = step.origin in _BY_COMMITS and not any(commit in others for others in taken[1:]) and commit not in repeated
        batch, quarantined = step.counted
        yield Take(
            commit=commit,
            run_id=step.run_id,
            origin=step.origin,
            commits=len(fed),
            rows_in=sum(one.rows for one in fed) if alone else None,
            batch=batch,
            published=step.info.rows,
            quarantined=quarantined,
            is_by_this_logic=step.info.extra.get(FINGERPRINT_KEY) == fingerprint,
            why=repeated.get(commit, ""),
        )


def _by_commit(fed: Sequence[Fed]) -> Mapping[str, list[Fed]]:
    found: dict[str, list[Fed]] = {}
    for one in fed:
        for commit in one.by:
            found.setdefault(commit, []).append(one)
    return found


def _unclosed(spec: PipelineSpec, account: Account, makers: Mapping[str, Sequence[Account]], since: str) -> Iterator[str]:
    """Yield what pipelines upstream have published and the account of one that reads it does not have, or has otherwise."""
    paths = {MAIN: spec.source.table.path, **{one.name: one.table.path for one in spec.inputs}}
    for edge in account.edges:
        known = {one.what: one.rows for one in edge.fed}
        for maker in makers.get(same_place(paths[edge.input]), ()) if not edge.why else ():
            for take in maker.takes:
                if take.commit > since and known.get(take.commit, -1) != take.published and take.published:
                    has = f"has {counted(known[take.commit], 'row')}" if take.commit in known else "has nothing"
                    words = (
                        f"{maker.pipeline} published {counted(take.published, 'row')} by {readable(take.commit, maker.zone)}"
                    )
                    yield f"{words}, and the account of {edge.table} {has} of it"
