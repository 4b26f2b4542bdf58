"""Which of the drawn pipelines run on real tables: some of every kind, and examples of changes, the rarest codes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from freshet.verdict.result import Example
from tests.kit.verdict.case import Case
from tests.kit.verdict.drawn_real import real_pipelines
from tests.kit.verdict.examples import concrete
from tests.kit.verdict.files import EMPTIED
from tests.kit.verdict.sqlite import NotModelled, Row

State = Mapping[str, Mapping[Any, Row]]
#: Told by the settings of a run, or by time: no change of rows shows them here.
_NOT_OF_ROWS = {"NOT_DETERMINISTIC", "STARTS_AT_LATEST"}


#: The kinds of pipelines in turn: of joins and of groups there is most to tell.
_TURNS = ("rows", "groups", "owned", "partitions", "versions", "groups", "union", "rows")


def exact_pipelines(number: int, drawn: int, count: int) -> dict[str, Case]:
    """Return exact pipelines by their names: some of every kind, of each those first that read most.

    Args:
        number: The seed.
        drawn: How many are drawn, exact or not.
        count: How many are returned.
    """
    kinds: dict[str, list[Case]] = {}
    for case in sorted(_drawn(number, drawn), key=lambda one: -len(one.inputs)):
        if {one.code for one in case.verdict.findings} <= EMPTIED:
            kinds.setdefault(case.head["of"], []).append(case)
    turns = {kind: iter(cases) for kind, cases in kinds.items()}
    found = [next(turns[kind], None) for _ in range(count) for kind in _TURNS if kind in turns]
    return {f"p{at}": case for at, case in enumerate([case for case in found if case is not None][:count])}


def examples(number: int, drawn: int, count: int) -> Iterator[tuple[Case, Example, State, State]]:
    """Yield pipelines with an example of a change and the rows before and after it, the rarest codes first.

    Args:
        number: The seed.
        drawn: How many pipelines are drawn.
        count: How many are yielded at most, each with one example.
    """
    by_code: dict[str, list[tuple[Case, Example]]] = {}
    for case in _drawn(number, drawn):
        for one in case.verdict.findings:
            if one.example is not None and one.code not in _NOT_OF_ROWS and one.example.change != "run":
                by_code.setdefault(one.code, []).append((case, one.example))
    used: set[str] = set()
    turns = zip_longest(*(by_code[code] for code in sorted(by_code, key=lambda code: len(by_code[code]))))
    for case, example in (one for turn in turns for one in turn if one is not None):
        if len(used) == count:
            return
        if case.text in used or case.head.get("write"):
            continue
        try:
            found = next((states for n in range(60) if (states := concrete(case, example, number + n)) is not None), None)
        except NotModelled:
            continue
        if found is not None:
            used.add(case.text)
            yield case, example, *found


def _drawn(number: int, count: int) -> list[Case]:
    found: dict[str, Case] = {}

    @seed(number)
    @settings(
        max_examples=count, deadline=None, database=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck)
    )
    @given(case=real_pipelines())
    def draw(case: Case) -> None:
        # Of a group of null there is no row in a table.
        if "a" not in case.target.key:
            found[case.text] = case

    draw()
    return list(found.values())
