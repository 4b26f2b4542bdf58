"""A pipeline's steps, walked from the first to the last."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field, replace

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark

from freshet.project.model.steps import TransformSpec
from freshet.project.syntax.statements import Statement
from freshet.verdict import says
from freshet.verdict.columns import SRC, UNKNOWN, Col
from freshet.verdict.output import output_of
from freshet.verdict.publish import Published
from freshet.verdict.question import Question
from freshet.verdict.relation import Rel
from freshet.verdict.result import Finding, Granted, Output, Scope
from freshet.verdict.scan import renamed, source
from freshet.verdict.site import Site
from freshet.verdict.tumbling import readable
from freshet.verdict.walk import Walk

# What its parser does not know it says by a warning; here it is a finding.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())
_TABLE = re.compile(r"(\s*)table\b", re.IGNORECASE)
# Said of a SQL whatever comes of its rows.
_NO_ROWS = (exp.Set, exp.Uncache)


@dataclass
class Chain:
    """A pipeline's steps.

    Args:
        question: What is asked.
        found: Why the target may differ from a recompute.
        granted: What is taken for granted of tables.
        before_keys: The columns by which the source of before is joined with the changed rows.
        scope: The pieces of the result.
        result: The result.
        not_asked: Questions that could not be asked of the result, in words.
        views: What names mean, besides the pipeline's inputs.
        output: The result's columns; None where they are not sure.
    """

    question: Question
    found: list[Finding] = field(default_factory=list)
    granted: list[Granted] = field(default_factory=list)
    before_keys: set[str] = field(default_factory=set)
    scope: Scope = field(default_factory=lambda: Scope(why_none="the SQL cannot be followed to its tables"))
    result: Rel = field(default_factory=Rel)
    not_asked: tuple[str, ...] = ()
    views: dict[str, Rel] = field(default_factory=dict)
    site: Site = field(default_factory=lambda: Site("", 1, ""))
    node: exp.Expr = field(default_factory=exp.Select)
    lazy: set[str] = field(default_factory=set)
    output: Output | None = None

    def walk(self) -> None:
        """Follow the steps, and say what comes of them."""
        self.follow()
        self.conclude()

    def follow(self) -> None:
        """Follow the steps, and note what is found in each."""
        spec = self.question.spec
        self.site = Site(spec.file, 1, "")
        self.result = self.views[SRC] = source(self.question)
        for step in spec.transform:
            if step.kind == "python":
                self._python(step)
            for statement in step.statements:
                self._statement(step, statement)
            self.views[SRC] = self.result
            # By its text: <SRC> in it is another one in the next step.
            for name in self.lazy:
                self.views.pop(name, None)
            self.lazy.clear()

    def conclude(self) -> None:
        """Hold the result of the steps against the target, and note what is found."""
        adds = any(step.kind == "python" for step in self.question.spec.transform[-1:])
        published = Published(self.result, self.question, self.site, _place(self.node), self.granted, adds)
        self.found += published.findings()
        if self.result.broken:
            self.not_asked = published.not_asked()
        else:
            self.scope = published.scope()
        if self.question.deletes_assumed:
            self.granted.append(Granted(table=says.SHOWN, fact="records_changes", columns=()))

    def handed_on(self) -> tuple[str, ...]:
        """Return the source's columns that the target's record key is made of."""
        cols = (self.result.get(column.lower()) for column in self.question.spec.target.record_key)
        return tuple(sorted({base[1] for col in cols if col is not None and (base := col.bare) and base[0] == SRC}))

    def _python(self, step: TransformSpec) -> None:
        self.output = None
        if not self.question.spec.row_by_row:
            self.found.append(_of_python(step.file))
            self.result = replace(self.result, broken=True, kind="delta")
            return
        # It keeps key, order and mark of a row; of what else it makes of the row nothing is known.
        spec = self.question.spec
        kept = {*self.question.key_of(SRC), self.question.of(SRC).ordering.lower(), "_hoodie_is_deleted"}
        kept |= {name.lower() for name in (*spec.target.record_key, spec.target.ordering_field, spec.write.ordering)}
        names = [*self.result.cols, *(sorted(kept) if self.result.wide else ())]
        cols = {}
        for name in dict.fromkeys(filter(None, names)):
            col = self.result.get(name)
            if col is not None:
                cols[name] = col if name in kept or col.instant or col.fixed else Col(of=col.of | {(UNKNOWN, name)})
        self.result = replace(self.result, cols=cols, wide={}, plain="")

    def _statement(self, step: TransformSpec, statement: Statement) -> None:
        self.site = site = Site(step.file, statement.line, statement.text)
        walk = Walk(self.question, site, self.granted, self.before_keys)
        tree = parsed(statement.text)
        match tree:
            case exp.Cache() | exp.Create() if isinstance(tree.expression, exp.Query | exp.Values):
                named = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
                columns = [one.name.lower() for one in tree.this.expressions] if isinstance(tree.this, exp.Schema) else []
                name = named.name.lower()
                self.views[name] = renamed(walk.query(tree.expression, self.views), columns)
                reads = {table.name.lower() for table in tree.expression.find_all(exp.Table)}
                if isinstance(tree, exp.Create) and reads & ({SRC} | self.lazy):
                    self.lazy.add(name)
            case exp.Cache() if tree.expression is None:
                pass
            case exp.Query() | exp.Values():
                self.node = tree
                self.result = walk.query(tree, self.views)
                self.output = output_of(tree, self.result, site)
            case exp.Expr() if isinstance(tree, _NO_ROWS):
                pass
            case _:
                site.stop(says.not_analysed("a statement that freshet's parser does not know").at(site, exp.Select()))
                self.result, self.output = Rel(kind="delta", broken=True), None
        self.found += site.found


def parsed(text: str) -> exp.Expr | None:
    """Return a statement's tree; None where the parser does not know it.

    Args:
        text: As ``Statement`` has it.
    """
    if _TABLE.match(text):
        text = _TABLE.sub(r"\1FROM ", text, count=1)
    try:
        return sqlglot.parse_one(readable(text), dialect=Spark)
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None


def _of_python(file: str) -> Finding:
    return Finding(
        code="PYTHON_STEP",
        file=file,
        line=1,
        message="Of a Python step freshet cannot say whether its increments equal a recompute.",
        hint="Where each row gives one row, by itself alone, and keeps its key, ordering field and mark of deletes, write "
        "'exactness: "
        "row_by_row'; or accept it with the reason why it is exact.",
        subject=file,
        stops=True,
    )


def _place(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.SetOperation | exp.Subquery):
        node = node.left if isinstance(node, exp.SetOperation) else node.this
    return node
