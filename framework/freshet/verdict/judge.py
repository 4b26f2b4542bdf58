"""Say of a pipeline whether its increments equal a recompute. Pure: it reads the SQL, and no table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from freshet.project.model.pipeline import PipelineSpec
from freshet.verdict.chain import Chain
from freshet.verdict.changelogs import of_events, scope_of
from freshet.verdict.checks import of_checks
from freshet.verdict.columns import SRC
from freshet.verdict.facts import TableFacts
from freshet.verdict.question import Question
from freshet.verdict.result import Finding, Granted, Kind, Output, Scope, Verdict
from freshet.verdict.settings import of_settings
from freshet.verdict.topics import never_happens

#: Why there are no pieces where the analysis itself fails, which it may do once and not again.
FAILED = "the analysis failed"


def judge(spec: PipelineSpec, facts: Mapping[str, TableFacts] | None = None) -> Verdict:
    """Return the verdict on a pipeline.

    Args:
        spec: The pipeline.
        facts: What is known of its tables, by their names in the SQL; ``src`` for the main source. What is not known is taken
            for
            granted where the SQL says what it must be, and the verdict names it.
    """
    question = Question(spec=spec, facts={name.lower(): one for name, one in (facts or {}).items()})
    if spec.source.changelog is not None:
        return _verdict(spec, of_events(question), scope_of(spec.source.changelog), (), ())
    found: list[Finding]
    try:
        chain = _walked(question)
        found, scope, granted, not_asked, output = chain.found, chain.scope, chain.granted, chain.not_asked, chain.output
    except Exception as error:  # a fault of the analysis must not stand for a fault of the pipeline
        found, scope, granted = [_fault(spec, error)], Scope(why_none=FAILED), []
        not_asked, output = ("whatever else may make the two differ",), None
    found = [one for one in (*found, *of_checks(question)) if not never_happens(spec, one)]
    return _verdict(spec, [*found, *of_settings(question)], scope, granted, not_asked, output)


def _verdict(
    spec: PipelineSpec,
    found: Iterable[Finding],
    scope: Scope,
    granted: Sequence[Granted],
    not_asked: tuple[str, ...],
    output: Output | None = None,
) -> Verdict:
    accepted = tuple(_accepted(spec, one) for one in _once(found))
    kind: Kind = "exact" if not accepted else "exact_if" if all(one.accepted for one in accepted) else "inexact"
    used = {(one.code, one.accepted) for one in accepted}
    return Verdict(
        kind=kind,
        findings=tuple(sorted(accepted, key=lambda one: (one.file, one.line, one.column, one.code, one.subject))),
        scope=scope,
        granted=tuple(dict.fromkeys(granted)),
        unused=tuple(a.code for a in spec.accepts if (a.code, a.why) not in used),
        not_asked=not_asked,
        output=output,
    )


def _walked(question: Question) -> Chain:
    chain = Chain(question)
    chain.follow()
    key = () if question.key_of(SRC) else tuple(sorted(chain.before_keys)) or chain.handed_on()
    if key:
        chain = Chain(replace(question, source_key=key))
        chain.granted.append(Granted(table="SRC", fact="record_key", columns=key))
        chain.follow()
    chain.conclude()
    return chain


def _fault(spec: PipelineSpec, error: Exception) -> Finding:
    return Finding(
        code="NOT_ANALYSED",
        file=spec.file,
        line=1,
        message=f"freshet failed to analyse this pipeline ({type(error).__name__}), and cannot say whether its increments "
        "equal a "
        "recompute.",
        hint="Write the SQL in a simpler way, or accept it with the reason why it is exact; and report it.",
        stops=True,
    )


def _accepted(spec: PipelineSpec, found: Finding) -> Finding:
    for one in spec.accepts:
        if one.code == found.code and one.of.lower() in ("", found.subject.lower()):
            return replace(found, accepted=one.why)
    return found


def _once(found: Iterable[Finding]) -> list[Finding]:
    seen: dict[tuple[str, str, int, int, str], Finding] = {}
    for one in found:
        place = (one.code, one.file, one.line, one.column, one.subject)
        seen[place] = replace(seen[place], stops=seen[place].stops or one.stops) if place in seen else one
    return list(seen.values())
