"""What became of the records of topics that a pipeline reads: ranges of offsets, by the target's checkpoints alone. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from freshet.account.model import Fed
from freshet.account.steps import BY_HAND, Step
from freshet.sources.kafka.position import KafkaPosition

_Parts = dict[tuple[str, int], int]


@dataclass(frozen=True)
class _Read:
    """A range of a partition that a commit of the target has read: its end is exclusive."""

    begin: int
    end: int
    by: str


def ranges_by(steps: Sequence[Step], name: str) -> tuple[Fed, ...]:
    """Return what became of each range of offsets between two steps.

    What waits is in the cluster, which is not asked: ``freshet status`` does.

    Args:
        steps: The target's steps, oldest first; what the first one has read is where the account begins.
        name: The input's name in the checkpoint.
    """
    found: list[Fed] = []
    before: _Parts | None = None
    reads: dict[tuple[str, int], list[_Read]] = {}
    for step in steps:
        position = step.position(name)
        if not isinstance(position, KafkaPosition):
            before = None
            continue
        now = {(topic, number): offset for topic, parts in position.offsets.items() for number, offset in parts.items()}
        for part, end in sorted(now.items()):
            known = reads.setdefault(part, [])
            begin = before.get(part) if before is not None else None
            if begin is None:
                # A partition that is new begins where its first run found it, which no checkpoint tells.
                known[:] = [_Read(0, end, step.instant.completed)]
            elif end > begin:
                found += _passed(part, begin, end, known, step)
                if step.reads:
                    known.append(_Read(begin, end, step.instant.completed))
        before = now
    return tuple(found)


def _passed(part: tuple[str, int], begin: int, end: int, known: Sequence[_Read], step: Step) -> Iterator[Fed]:
    """Yield the range that a step goes on, cut where earlier ones have read into it."""
    when = step.instant.completed
    cuts = sorted({begin, end, *(at for one in known for at in (one.begin, one.end) if begin < at < end)})
    for start, stop in pairwise(cuts):
        by = tuple(one.by for one in known if one.begin <= start and stop <= one.end)
        what, rows = f"{part[0]},{part[1]}:{start}-{stop}", stop - start
        if step.reads:
            why = f"read again by {step.when}: the checkpoint had been set back before it" if by else ""
            yield Fed(what=what, rows=rows, fate="taken", by=(*by, when), why=why)
        elif not by:
            hand = "set by hand" if step.origin == BY_HAND else f"moved by a commit that reads nothing ({step.origin})"
            why = f"the checkpoint was {hand} at {step.when}, beyond it, and no run has read it"
            yield Fed(what=what, rows=rows, fate="dropped", why=why)
