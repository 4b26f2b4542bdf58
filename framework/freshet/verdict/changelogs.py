"""The verdict on a changelog: its target is the merge of all events, in whatever order, number and pieces they come."""

from __future__ import annotations

from collections.abc import Iterable

from freshet.changelog.declared import Changelog
from freshet.project.model.records import RecordsSpec
from freshet.verdict.question import Question
from freshet.verdict.result import Finding, Scope, ScopeColumn
from freshet.verdict.says import SHOWN
from freshet.verdict.settings import of_settings


def of_events(question: Question) -> Iterable[Finding]:
    """Yield why the target may differ from a merge of all that the source holds.

    A record of a topic neither changes nor goes but by the topic's retention, which no pipeline over topics is told of.

    Args:
        question: What is asked.
    """
    spec = question.spec
    if not isinstance(spec.source, RecordsSpec):
        yield Finding(
            code="NOT_RECOMPUTABLE",
            file=spec.file,
            line=1,
            message=f"The target keeps what an event of {spec.source.table.name} said that is changed or deleted there "
            "afterwards: a merge of what that table holds would not know of it.",
            hint="Let the table keep each event as a row of its own, and accept it.",
        )
    yield from of_settings(question)


def scope_of(log: Changelog) -> Scope:
    """Return the pieces of a changelog's target: its rows, each by itself alone."""
    return Scope(columns=tuple(ScopeColumn(name=key, carried={SHOWN: key}) for key in log.layout.key))
