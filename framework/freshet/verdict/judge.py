"""Say of a pipeline whether its increments equal a recompute. Pure: it reads the SQL, and no table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError

from freshet.project.model.pipeline import PipelineSpec
from freshet.verdict import says
from freshet.verdict.columns import SRC, of_table
from freshet.verdict.facts import Question, TableFacts
from freshet.verdict.publish import Published
from freshet.verdict.relation import Rel
from freshet.verdict.result import Finding, Granted, Scope, Verdict
from freshet.verdict.site import Site
from freshet.verdict.walk import Walk


def judge(spec: PipelineSpec, facts: Mapping[str, TableFacts] | None = None) -> Verdict:
    """Return the verdict on a pipeline.

    Args:
        spec: The pipeline.
        facts: What is known of its tables, by their names in the SQL; ``src`` for the main source. What is not known is taken for
            granted where the SQL says what it must be, and the verdict names it.
    """
    question = Question(spec=spec, facts={name.lower(): one for name, one in (facts or {}).items()})
    chain = _Chain(question)
    chain.walk()
    if not question.key_of(SRC):
        key = tuple(sorted(chain.before_keys)) or chain.handed_on()
        if key:
            question = replace(question, source_key=key)
            chain = _Chain(question)
            chain.granted.append(Granted(table="SRC", fact="record_key", columns=key))
            chain.walk()
    found = [*chain.found, *_of_settings(question)]
    accepted = tuple(_accepted(spec, one) for one in _once(found))
    kind = "exact" if not accepted else "exact_if" if all(one.accepted for one in accepted) else "inexact"
    used = {(one.code, one.accepted) for one in accepted}
    unused = tuple(a.code for a in spec.accepts if (a.code, a.why) not in used)
    return Verdict(
        kind=kind,
        findings=tuple(sorted(accepted, key=lambda one: (one.file, one.line, one.column, one.code))),
        scope=chain.scope,
        granted=tuple(dict.fromkeys(chain.granted)),
        unused=unused,
    )


@dataclass
class _Chain:
    """A pipeline's steps, walked from the first to the last."""

    question: Question
    found: list[Finding] = field(default_factory=list)
    granted: list[Granted] = field(default_factory=list)
    before_keys: set[str] = field(default_factory=set)
    scope: Scope = Scope(why_none="nothing is known of a Python step's rows")
    result: Rel = field(default_factory=Rel)

    def walk(self) -> None:
        spec = self.question.spec
        views: dict[str, Rel] = {SRC: _source(self.question)}
        site, node, adds = Site(spec.file, 1, ""), exp.Select(), False
        for step in spec.transform:
            if step.kind == "python":
                adds = True
                if not spec.row_by_row:
                    self.found.append(_python(step.file))
                    self.result = replace(views[SRC], broken=True)
                    views[SRC] = self.result
                continue
            adds = False
            for statement in step.statements:
                site = Site(step.file, statement.line, statement.text)
                walk = Walk(self.question, site, self.granted, self.before_keys)
                try:
                    tree = sqlglot.parse_one(statement.text, dialect=Spark)
                except SqlglotError:
                    self.found.append(
                        says.not_analysed("a statement that freshet's parser does not know").at(site, exp.Select())
                    )
                    views[SRC] = self.result = Rel(kind="delta", broken=True)
                    continue
                if isinstance(tree, exp.Cache | exp.Create):
                    if isinstance(tree.expression, exp.Query):
                        views[tree.this.name.lower()] = walk.query(tree.expression, views)
                elif isinstance(tree, exp.Query | exp.Values | exp.Table):
                    node, self.result = tree, walk.query(tree, views)
                self.found += site.found
            views[SRC] = self.result
        published = Published(self.result, self.question, site, _place(node), self.granted, adds)
        self.found += published.findings()
        if not self.result.broken:
            self.scope = published.scope()

    def handed_on(self) -> tuple[str, ...]:
        """Return the source's columns that the target's record key is made of."""
        cols = (self.result.get(column.lower()) for column in self.question.spec.target.record_key)
        return tuple(sorted({base[1] for col in cols if col is not None and (base := col.bare) and base[0] == SRC}))


def _source(question: Question) -> Rel:
    key = question.key_of(SRC)
    columns = question.facts.get(SRC, TableFacts()).columns
    cols = {column.lower(): of_table(SRC, column.lower()) for column in columns}
    if cols and question.deletes_pass_on:
        cols.setdefault("_hoodie_is_deleted", of_table(SRC, "_hoodie_is_deleted"))
    return Rel(
        kind="delta",
        cols=cols,
        wide={} if cols else {"": (SRC,)},
        tables=frozenset([SRC]),
        unit=frozenset(key),
        seen=frozenset(["new"]),
        unique=frozenset([frozenset(key)]) if key else frozenset(),
        dead=question.deletes_pass_on,
    )


def _python(file: str) -> Finding:
    return Finding(
        code="PYTHON_STEP",
        file=file,
        line=1,
        message="Of a Python step freshet cannot say whether its increments equal a recompute.",
        hint="Where each row gives one row, by itself alone, and keeps its key, write 'exactness: row_by_row'; or accept it with the "
        "reason why it is exact.",
        subject=file,
    )


def _of_settings(question: Question) -> Iterable[Finding]:
    spec = question.spec

    def at_settings(code: str, message: str, hint: str, example: says.Example | None = None) -> Finding:
        return Finding(code=code, file=spec.file, line=1, message=message, hint=hint, example=example)

    if spec.source.missing_checkpoint == "READ_LATEST":
        yield at_settings(
            "STARTS_AT_LATEST",
            "The first run begins at the source's newest commit: rows of before are not in the target until they change.",
            "Use READ_UPTO_LATEST_COMMIT; or accept it where the older rows are not wanted.",
            says.Example(table=SRC, change="insert", recompute="holds the rows of before", target="does not hold them"),
        )
    if spec.operation == "delete":
        yield at_settings(
            "NOT_RECOMPUTABLE",
            "The operation delete takes rows out: what the target holds then cannot be recomputed from the source.",
            "Use upsert, and mark what shall go by _hoodie_is_deleted.",
        )
    if spec.write.strategy != "rows" and not spec.write.insert_missing:
        yield at_settings(
            "NOT_MATCHED_IS_LOST",
            "'when_not_matched: ignore' drops an update whose row is not there yet; it does not come again.",
            "Use 'when_not_matched: insert'.",
            says.Example(
                table=SRC, change="insert", recompute="has the update, once the row is there", target="has lost the update"
            ),
        )
    if spec.write.strategy == "partial_update":
        yield at_settings(
            "KEEPS_OLD_VALUES",
            "partial_update leaves a column as it is where the row carries none: a value that became null in the source stays.",
            "Use 'strategy: merge', which sets null, too; or accept it where the source sends parts of rows.",
            says.Example(table=SRC, change="update", recompute="has null", target="keeps the old value"),
        )


def _accepted(spec: PipelineSpec, found: Finding) -> Finding:
    for one in spec.accepts:
        if one.code == found.code and one.of.lower() in ("", found.subject.lower()):
            return replace(found, accepted=one.why)
    return found


def _once(found: Iterable[Finding]) -> list[Finding]:
    seen: dict[tuple[str, str, int, int, str], Finding] = {}
    for one in found:
        seen.setdefault((one.code, one.file, one.line, one.column, one.subject), one)
    return list(seen.values())


def _place(node: exp.Expression) -> exp.Expression:
    while isinstance(node, exp.SetOperation | exp.Subquery):
        node = node.left if isinstance(node, exp.SetOperation) else node.this
    return node
