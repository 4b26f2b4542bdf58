"""A look at many things at one moment: each is asked for once, and whoever asks again is told the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from freshet.errors import FreshetError
from freshet.hudi.table import StateReader, TableState
from freshet.project.model.pipeline import TableRef

T = TypeVar("T")


class OneLook:
    """A ``StateReader`` that asks another one once for each table, so that all who ask it see the same moment.

    Args:
        state: The other.
    """

    def __init__(self, state: StateReader) -> None:
        self._state, self._seen = state, dict[TableRef, TableState | None]()
        self._told: dict[Hashable, object] = {}

    def table(self, ref: TableRef) -> TableState | None:
        """Return the table's state when it was first asked for, None where there was no table."""
        if ref not in self._seen:
            self._seen[ref] = self._state.table(ref)
        return self._seen[ref]

    def once(self, key: Hashable, question: Callable[[], T]) -> T:
        """Return what a question was answered first, or raise what it raised.

        Args:
            key: What is asked.
            question: Asks it.

        Raises:
            FreshetError: As the question.
        """
        if isinstance(self._state, OneLook):
            return self._state.once(key, question)
        if key not in self._told:
            try:
                self._told[key] = question()
            except FreshetError as error:
                # Who waited ten seconds for a server that is gone does not wait for it again.
                self._told[key] = error
        return cast(T, self._answer(key))

    def tell(self, key: Hashable, told: object) -> None:
        """Keep what a question was answered that was asked together with others.

        Args:
            key: What was asked.
            told: The answer, or a FreshetError that is raised for it.
        """
        if isinstance(self._state, OneLook):
            self._state.tell(key, told)
        else:
            self._told[key] = told

    def _answer(self, key: Hashable) -> Any:
        found = self._told[key]
        if isinstance(found, FreshetError):
            raise found
        return found


def once(state: StateReader, key: Hashable, question: Callable[[], T]) -> T:
    """Ask a question, once where the state is a look at one moment; see ``OneLook.once``."""
    return state.once(key, question) if isinstance(state, OneLook) else question()
