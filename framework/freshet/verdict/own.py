"""What a join makes of the source's rows on both sides: of those that changed, and of those of before."""

from __future__ import annotations

from dataclasses import replace

from freshet.verdict import says, says_joins, says_target
from freshet.verdict.columns import ROWS, SRC
from freshet.verdict.joined import broken, together
from freshet.verdict.pairs import Joining
from freshet.verdict.relation import Rel, is_unique
from freshet.verdict.result import Granted

# Reasons that say of a relation that a row may be missing from it.
_LEAVES_OUT = ("ROWS_FILTERED", "DELETES_STAY", "INNER_JOIN_DROPS", "PARTNER_DECIDES_ROWS")


def own(left: Rel, right: Rel, how: Joining) -> Rel:
    """Return changed rows with others of their own kind."""
    if not right.unit or not right.unit <= how.links:
        return broken(left, right, how, says_joins.join_of_parts())
    if left.seen != right.seen:
        return broken(left, right, how, says.before_as_data())
    # Where the left side's row finds nothing it is there all the same: what it finds follows from the row itself.
    lacking = [one for one in right.pending if one.code in _LEAVES_OUT] if how.side == "left" else []
    pending = [*left.pending, *(one for one in right.pending if one not in lacking)]
    # What identifies a row never changes; what else they have to have equal may.
    more = how.more or any(pair.right.text not in right.unit or pair.left.text != pair.right.text for pair in how.pairs)
    if how.side != "left" and more:
        pending.append(how.finding(says_joins.inner_join_drops(right, left, how.pairs)))
    if left.twice or right.twice:
        pending.append(how.finding(says_target.moved_row_is_here_twice("this join")))
    found = together(left, right, how, keep_right=how.side in ("inner", "left"))
    if how.side == "left" and not (more or lacking or right.kept_by or right.emptied):
        # It finds its own row, and with it what the source's ordering field holds.
        found = replace(found, cols={**found.cols, **{k: replace(found.cols[k], rises=c.rises) for k, c in right.cols.items()}})
    elif how.side == "left":
        # Whether they are null follows from what else the row holds; of those that are not listed nothing is known.
        keys = {*right.cols, *(pair.right_key for pair in how.pairs if pair.right_key is not None)}
        rows = {key: replace(found.cols[key], of=found.cols[key].of | {(SRC, ROWS)}) for key in keys}
        found = replace(found, cols={**found.cols, **rows}, wide=left.wide)
    if how.side in ("inner", "left") and not is_unique(right, [p.right_key for p in how.pairs]):
        pending.append(how.finding(says_joins.fan_out_of_join(right, left, how.pairs)))
        found = replace(found, many=found.many | right.tables)
    assumed = left.assumed or right.assumed or left.perhaps
    kept_by = left.kept_by | (right.kept_by if how.side != "left" else frozenset())
    conditions = left.conditions | (right.conditions if how.side != "left" else frozenset())
    return replace(
        found,
        pending=tuple(pending),
        emptied=(*left.emptied, *(right.emptied if how.side != "left" else ())),
        owed=(*left.owed, *right.owed),
        assumed=assumed,
        kept_by=kept_by,
        conditions=conditions,
    )


def with_before(left: Rel, right: Rel, how: Joining) -> Rel:
    """Return the rows of before of what changed."""
    if how.side == "inner" and left.kind == "delta":
        left, right, how = right, left, how.swapped()
    key = set(how.question.key_of(SRC))
    by_key = of_each(how, key)
    whole = (
        right.unit == frozenset(key)
        and right.seen == {"new"}
        and not left.filtered
        and right.kept_by <= {(SRC, column) for column in key}
    )
    if left.kind == "before" and right.kind == "delta" and how.side in ("semi", "inner") and by_key and whole:
        found = together(left, right, how, keep_right=False)
        pending = list(right.pending)
        # Of a row that went to another partition there is a deleted one in the increment, which names the old one.
        pending += [how.finding(says_joins.partitions_in_part(held, left)) for held in left.held if "old" not in held.images]
        return replace(
            found,
            kind="delta",
            unit=frozenset(key),
            seen=frozenset(["old"]),
            held=(),
            pending=tuple(pending),
            kept_by=right.kept_by,
            conditions=right.conditions,
            places=frozenset(),
            dead=False,
            twice=False,
        )
    return broken(left, right, how, says.before_as_data())


def of_each(how: Joining, key: set[str]) -> bool:
    """Say whether a join finds for each row of the source its own in the source's table, whatever else they hold."""
    links = how.links
    return bool(key) and key <= links and len(links) == len(how.pairs) and not how.more and _of_places(links - key, how)


def _of_places(texts: set[str], how: Joining) -> bool:
    """Say whether a row that is found by partition columns, too, is found in whatever partition it was."""
    equal = {pair.left.text for pair in how.pairs if not pair.null_safe} & texts
    told = how.question.of(SRC).never_null
    if equal and told is None:
        how.granted.append(Granted(table=says.SHOWN, fact="never_null", columns=tuple(sorted(equal))))
    return texts <= how.question.places and (told is None or equal <= {column.lower() for column in told})
