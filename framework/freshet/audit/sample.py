"""Which pieces of a target an audit draws: by a hash of their values, which every table that has them tells alike. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from freshet.audit.request import AuditRequest
from freshet.errors import StateError
from freshet.hudi.checkpoint import MAIN
from freshet.project.model.pipeline import PipelineSpec
from freshet.types.columns import Array, Column, Map, Struct
from freshet.verdict.result import Scope, ScopeColumn

# A hash is as likely to fall below a share of this as any other.
_OF = 1_000_000_007


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What is drawn.

    Args:
        share: Share of the pieces; 1 for all of them.
        columns: Columns of the target whose values, together, name a piece; none where nothing is drawn.
        carried: By the table's name in the SQL, lower case, its columns that hold the same values, in the order of
            ``columns``; a table without them is read whole.
        seed: See ``AuditRequest``.
        by_row: True where each row of the target is a piece of its own.
    """

    share: float = 1.0
    columns: tuple[Column, ...] = ()
    carried: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seed: str = ""
    by_row: bool = True

    @property
    def is_whole(self) -> bool:
        """Return True where nothing is drawn."""
        return not self.columns

    def of_target(self) -> str:
        """Return the condition that a row of the target, or of a recompute of it, is drawn; empty for all."""
        return self._condition([column.name for column in self.columns])

    def of_table(self, name: str) -> str:
        """Return the condition that a row of another table may reach a row that is drawn; empty for all.

        Args:
            name: The table's name in the SQL.
        """
        return self._condition(self.carried.get(name.lower(), ()))

    def hashed(self) -> str:
        """Return the expression over the target's columns that is one number for each piece."""
        return self._hash([column.name for column in self.columns])

    def _condition(self, names: Sequence[str]) -> str:
        return f"pmod({self._hash(names)}, {_OF}) < {math.ceil(self.share * _OF)}" if self.columns and names else ""

    def _hash(self, names: Sequence[str]) -> str:
        # By the target's type: what is an INT there and a BIGINT here is one value, and its text is one, too.
        texts = [
            f"coalesce(cast(cast({_quoted(name)} AS {column.type}) AS string), '')"
            for name, column in zip(names, self.columns, strict=True)
        ]
        return f"xxhash64({', '.join([_text(self.seed), *texts])})"


def draw(spec: PipelineSpec, request: AuditRequest, scope: Scope, rows: int) -> Sample:
    """Choose the sample of an audit.

    Args:
        spec: The pipeline.
        request: What is wanted.
        scope: The pieces into which the result of its SQL falls.
        rows: About how many rows the target has.

    Raises:
        StateError: NO_SCOPE.
    """
    if request.everything:
        return Sample()
    chosen = _carried_columns(scope.columns)
    known = {column.name.lower(): column for column in spec.target.columns}
    columns = tuple(known[one.name.lower()] for one in chosen if one.name.lower() in known)
    why = scope.why_none or "no table that it reads carries the columns of its pieces"
    if not chosen or len(columns) < len(chosen) or any(isinstance(column.type, Array | Map | Struct) for column in columns):
        raise StateError(
            "NO_SCOPE",
            f"{spec.name}: nothing can be drawn, as its result does not fall into pieces that its tables tell: {why}.",
            "Nothing was read or written.",
            f"Compare all of it: freshet audit {spec.name} --all",
            why=why,
        )
    carried = {
        name.lower(): tuple(one.carried[name] for one in chosen)
        for name in dict.fromkeys(name for one in chosen for name in one.carried)
        if all(name in one.carried for one in chosen)
    }
    share = min(1.0, request.keys / max(rows, 1)) if request.keys else request.share
    by_row = {name.lower() for name in spec.target.record_key} <= {column.name.lower() for column in columns}
    return Sample(share=share, columns=columns, carried=carried, seed=request.seed, by_row=by_row)


def _carried_columns(columns: Sequence[ScopeColumn]) -> tuple[ScopeColumn, ...]:
    """Return the columns of a scope that one table has, the main source first: fewer of them name larger pieces, as good."""
    tables = dict.fromkeys((MAIN, *(name for one in columns for name in one.carried)))
    by_table = {name: tuple(one for one in columns if name in one.carried) for name in tables}
    if by_table.get(MAIN):
        return by_table[MAIN]
    return max(by_table.values(), key=len, default=())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
