"""Where differences come from, as far as the timelines tell it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from freshet.audit.plan import AuditPlan
from freshet.audit.result import Cause, Group
from freshet.errors import FreshetError
from freshet.hudi.checkpoint import MAIN, ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY, STREAMER_V1_KEY, STREAMER_V2_KEY
from freshet.hudi.instants import readable
from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.plan.logic import known_logic
from freshet.plan.logic_record import UNKNOWN
from freshet.project.model.logic import digest_of
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.hudi.reads import counted

_STREAMER = (STREAMER_V1_KEY, STREAMER_V2_KEY)
_MOST_NAMED = 3
_WRONG = ("missing", "surplus", "unequal")


def causes_of(plan: AuditPlan, target: TableState, groups: Sequence[Group]) -> tuple[tuple[Cause, ...], int]:
    """Say where differences come from.

    Args:
        plan: The audit.
        target: The target as it was looked at.
        groups: What was counted.

    Returns:
        What is certain first, with its rows, and what may be a cause behind it; and how many rows nothing certain is told of.
    """
    wrong = [one for one in groups if one.kind in _WRONG]
    if not wrong:
        return (), 0
    made_by = _makers(target, {one.commit for one in wrong if one.commit})
    edited = [one for one in wrong if one.commit in made_by and not is_own(plan.spec, made_by[one.commit])]
    found: list[Cause] = []
    if edited:
        rows, commits = sum(one.rows for one in edited), sorted({one.commit for one in edited})
        who = sorted({made_by[one.commit].extra.get(PIPELINE_KEY, "") for one in edited} - {""})
        by = f" (of {', '.join(who[:_MOST_NAMED])})" if who else ""
        found.append(
            Cause(
                code="EDITED_ROWS",
                message=f"{counted(rows, 'row')} {'was' if rows == 1 else 'were'} written by {counted(len(commits), 'commit')} "
                f"that the pipeline did not make{by}: {_named(readable(one) for one in commits)}",
                rows=rows,
            )
        )
    others = [one for one in wrong if one not in edited]
    newer = sum(one.outranked for one in others)
    if newer:
        found.append(
            Cause(
                code="NEWER_ROW_STANDS",
                message=f"{counted(newer, 'row')} stand with a larger {plan.spec.target.ordering_field} than the recompute "
                "gives: the value went back, and an upsert keeps the larger one",
                rows=newer,
            )
        )
    left = sum(one.rows for one in others) - newer
    return (*found, *(_possible(plan, target, others) if left else ())), left


def is_own(spec: PipelineSpec, info: CommitInfo) -> bool:
    """Say whether a commit is of a pipeline, or of HoodieStreamer before it took the table over."""
    maker = info.extra.get(PIPELINE_KEY)
    if maker is None:
        return any(key in info.extra for key in (*_STREAMER, RUN_ID_KEY))
    return maker == spec.name


def _possible(plan: AuditPlan, target: TableState, wrong: Sequence[Group]) -> Iterator[Cause]:
    kinds = {one.kind for one in wrong}
    with suppress(FreshetError):
        yield from _of_logic(plan.spec, target)
    yield from _of_checkpoints(plan.spec, target, kinds)
    source = plan.states[MAIN]
    deletes = sum(source.info(instant).deletes for instant in source.data_commits if instant.completed <= plan.position)
    if "surplus" in kinds and deletes and not plan.deletes:
        yield Cause(
            code="DELETES_NOT_PASSED",
            message=f"commits of {source.ref.name} have deleted {counted(deletes, 'row')}, and no run is told of deletes",
        )
    for one in plan.spec.inputs:
        table = plan.states.get(one.name)
        if table is None or one.as_of == "checkpoint":
            continue
        upto = plan.tables[one.name].upto
        since = [i for i in table.data_commits if i.completed > (upto or plan.commit)]
        # Of a position the version was read; what came after it was not.
        if since and (not upto or plan.tables[one.name].cleaned):
            yield Cause(
                code="INPUT_MOVED_ON",
                message=f"input {one.name}: {counted(len(since), 'commit')} of {table.ref.name} came after the last run, which "
                "the recompute has read",
            )
        earlier = [i for i in table.data_commits if i not in since]
        if one.lookback_seconds and _span(earlier) > one.lookback_seconds:
            yield Cause(
                code="LOOKBACK_PASSED",
                message=f"input {one.name} is read {one.lookback_seconds // 3600} h back, and commits of {table.ref.name} are "
                "further apart: no run joined what they brought with later rows",
            )
        elif not one.drives and len(earlier) > 1:
            yield Cause(
                code="INPUT_DRIVES_NOTHING",
                message=f"input {one.name}: {table.ref.name} has changed by {counted(len(earlier) - 1, 'commit')} since its "
                "first, and drives no run: rows stay as they were joined then",
            )


def _of_logic(spec: PipelineSpec, target: TableState) -> Iterator[Cause]:
    known = known_logic(spec, target) if spec.logic else None
    held = known.standing.held if known is not None else None
    older = [path for path, digest in (held or {}).items() if digest not in (digest_of(spec.logic), UNKNOWN)]
    if older:
        yield Cause(
            code="OLDER_LOGIC",
            message=f"{counted(len(older), 'partition')} hold rows that an older logic made: {_named(sorted(older))}; the "
            f"backfill that renews them: freshet plan {spec.name}",
        )


def _of_checkpoints(spec: PipelineSpec, target: TableState, kinds: set[str]) -> Iterator[Cause]:
    origins = [
        (instant.completed, info.extra.get(ORIGIN_KEY))
        for instant, info in target.newest_first()
        if info.extra.get(PIPELINE_KEY) == spec.name
    ]
    if "missing" not in kinds:
        return
    by_hand = [completed for completed, origin in origins if origin == "override"]
    if by_hand:
        yield Cause(
            code="COMMITS_SKIPPED",
            message=f"the checkpoint was set by hand at {_named(readable(one) for one in by_hand)}: what it passed is missing",
        )
    if any(origin == "start_at_latest" for _, origin in origins):
        yield Cause(
            code="COMMITS_SKIPPED", message="the first run began at the newest commit (READ_LATEST) and read none before"
        )


def _makers(target: TableState, wanted: set[str]) -> Mapping[str, CommitInfo]:
    """Return what the commits did that wrote rows, by their request times; those that no timeline has any more are left out."""
    found = {i.requested: target.info(i) for i in target.commits if i.requested in wanted}
    if wanted - found.keys():
        found |= {i.requested: info for i, info in target.load_archived("") if i.requested in wanted}
    return found


def _span(commits: Sequence[Instant]) -> float:
    times = [moment for one in commits if (moment := _moment(one.completed)) is not None]
    return (max(times) - min(times)).total_seconds() if times else 0.0


def _moment(instant: str) -> datetime | None:
    try:
        return datetime.strptime(instant[:14], "%Y%m%d%H%M%S")
    except ValueError:
        return None


def _named(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:_MOST_NAMED]) + (", ..." if len(listed) > _MOST_NAMED else "")
