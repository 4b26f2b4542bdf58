"""Pipelines written as one SQL file each: what they read, what they write and what is to be said of them stands at the head.

The head is YAML in comments. A table is written as its columns: ``id* amount day/ updated_at^``; ``*`` marks its record key,
``/`` its partitioning, ``^`` its ordering field, ``!`` what is never null, ``@`` a TIMESTAMP (without one nobody knows of any,
unless ``typed`` says so); or by its name in a file of schemas. ``pairs`` are the same pipeline with one thing changed, each
with its own verdict. ``granted`` is what the verdict takes for granted, where a head says it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from freshet.project.model.checks import CheckSpec, MalformedRule, ReferenceRule, RowRule, Rule, SuiteRule, UniqueRule
from freshet.project.model.pipeline import InputSpec, PipelineSpec, TableRef
from freshet.project.model.steps import Accepted, TransformSpec, WriteSpec
from freshet.project.syntax.statements import split_statements
from freshet.types.columns import Atomic, Column
from freshet.verdict.facts import TableFacts
from freshet.verdict.judge import judge
from freshet.verdict.result import Verdict
from tests.kit.memory import a_source_spec, a_spec, a_table_spec
from tests.kit.verdict.table import CORPUS, Table

STEP, FILE = "-- python step", "-- next file"
DEFAULTS: Mapping[str, Any] = {
    "source": "id* a b c updated_at^",
    "target": "id* updated_at^ _hoodie_is_deleted",
    "inputs": {},
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A pipeline, and what is to be said of it.

    Args:
        name: The file's name, and which of its pairs.
        text: The SQL, head included, so that lines are the file's.
        head: What the head says.
    """

    name: str
    text: str
    head: Mapping[str, Any]

    @property
    def expected(self) -> str:
        """Return the verdict, as ``said`` writes it."""
        return " ".join(str(self.head["expect"]).split())

    @property
    def source(self) -> Table:
        """Return the main source."""
        return Table.of(self.head["source"])

    @property
    def target(self) -> Table:
        """Return the target."""
        return Table.of(self.head["target"])

    @property
    def inputs(self) -> Mapping[str, Mapping[str, Any]]:
        """Return what the head says of each input."""
        return {name: one for name, one in self.head["inputs"].items() if one is not None}

    def table_of(self, name: str) -> str:
        """Return the name of the table that an input reads: ``SRC``, another input's, or its own."""
        return str(self.inputs[name].get("of", name))

    def input_table(self, name: str) -> Table:
        """Return the table that an input reads."""
        of = self.table_of(name)
        return self.source if of == "SRC" else self.target if of == "TARGET" else Table.of(self.inputs[of].get("columns", of))

    @property
    def facts(self) -> dict[str, TableFacts]:
        """Return what the analysis may know."""
        if self.head.get("facts") is False:
            return {}
        source = replace(self.source.facts, records_changes=self.head.get("records"))
        if self.head.get("typed"):
            source = replace(source, moments=self.source.moments)
        return {"src": source, **{name: self.input_table(name).facts for name in self.inputs}}

    @property
    def spec(self) -> PipelineSpec:
        """Return the pipeline."""
        base, target = a_spec(), self.target
        own = {"SRC": base.source.table, "TARGET": base.target.ref}
        inputs = []
        for name, one in self.inputs.items():
            of = self.table_of(name)
            on = tuple((column, (t,) if isinstance(t, str) else tuple(t)) for column, t in (one.get("on") or {}).items())
            read = one.get("read") or ("affected_partitions" if on else "incremental" if one.get("drives") else "snapshot")
            inputs.append(
                InputSpec(
                    name=name,
                    table=own.get(of, TableRef(f"raw.{of}", f"/lake/raw/{of}")),
                    read=read,
                    line=1,
                    lookback_seconds=86400 if read == "incremental" else 0,
                    drives=tuple((one.get("drives") or {}).items()),
                    on=on,
                    as_of="checkpoint" if one.get("as_of") == "checkpoint" else "latest",
                )
            )
        steps = []
        done = 0
        for text in re.split(f"^({STEP}|{FILE})\n", self.text, flags=re.MULTILINE):
            if text == STEP:
                steps.append(TransformSpec(file="step.py", kind="python"))
            elif text.strip() and text != FILE:
                # On the lines of the file that it stands in.
                statements = split_statements("\n" * done + text)
                steps.append(TransformSpec(file=self.name.partition("[")[0], kind="sql", statements=statements))
            done += text.count("\n") + (text in (STEP, FILE))
        columns = tuple(Column(name=name, type=Atomic("string")) for name in target.columns)
        write = self.head.get("write", {})
        return replace(
            base,
            inputs=tuple(inputs),
            transform=tuple(steps),
            target=a_table_spec(
                columns=columns,
                partition_by=target.partition,
                record_key=target.key,
                ordering_field=target.ordering,
            ),
            source=a_source_spec(
                incremental_format=self.head.get("format", "auto"),
                missing_checkpoint=self.head.get("missing", "READ_UPTO_LATEST_COMMIT"),
            ),
            operation=self.head.get("operation", "upsert"),
            write=WriteSpec(
                strategy=write.get("strategy", "rows"),
                columns=tuple(write.get("columns", target.columns)),
                insert_missing=write.get("when_not_matched", "insert") == "insert",
                ordering=write.get("ordering", ""),
            ),
            accepts=tuple(
                Accepted(one["code"], one.get("why", "so it is"), one.get("of", "")) for one in self.head.get("accepts", ())
            ),
            row_by_row=self.head.get("exactness") == "row_by_row",
            spark_conf=self.head.get("spark", {}),
            checks=tuple(_check(one) for one in self.head.get("checks", ())),
        )

    @property
    def verdict(self) -> Verdict:
        """Return what is said."""
        return judge(self.spec, self.facts)


def _check(told: Mapping[str, Any]) -> CheckSpec:
    kinds: Mapping[str, Callable[[Any], Rule]] = {
        "where": RowRule,
        "malformed": lambda _: MalformedRule(),
        "unique": lambda columns: UniqueRule(tuple(columns), "batch"),
        "references": lambda table: ReferenceRule(table, f"/lake/{table}", (("a", "a"),)),
        "expectations": lambda some: SuiteRule(tuple({"type": name, "kwargs": kwargs} for name, kwargs in some.items())),
    }
    ((rule, value),) = ((key, told[key]) for key in kinds if key in told)
    return CheckSpec(
        name=told["name"],
        severity=told.get("severity", "drop"),
        line=1,
        rule=kinds[rule](value),
        deletes=told.get("on_drop") == "delete",
    )


def said(verdict: Verdict) -> str:
    """Return a verdict in one line: its kind, and of each finding code, subject and place."""
    found = [
        f"{f.code}{':' if f.subject else ''}{f.subject}@{f.line}:{f.column}{'' if f.example else '?'}" for f in verdict.findings
    ]
    return " ".join([verdict.kind, *found])


def granted(verdict: Verdict) -> str:
    """Return what a verdict takes for granted, in one line; that deletes are recorded, which is always said, left out."""
    told = [one for one in verdict.granted if one.fact != "records_changes"]
    return " ".join(
        f"{one.table}.{one.fact}:{','.join(one.columns)}{one.without and f' without {one.without}'}" for one in told
    )


def cases(folder: Path = CORPUS) -> Iterator[Case]:
    """Yield the cases of a folder, pairs included."""
    for file in sorted(folder.glob("*.sql")):
        text = file.read_text("utf-8")
        lines = text.splitlines()
        size = next(at for at, line in enumerate(lines) if not line.startswith("-- ") or line in (STEP, FILE))
        told = _named(yaml.safe_load("\n".join(line[3:] for line in lines[:size])))
        head = {**DEFAULTS, **told}
        yield Case(name=file.name, text=text, head=head)
        # The head stands in comments: what a pair changes is not to be found there.
        top, body = "\n".join(lines[:size]) + "\n", "\n".join(lines[size:]) + "\n"
        for number, pair in enumerate(told.get("pairs", ()), 1):
            changed = body.replace(pair["from"], pair["to"], 1) if "from" in pair else body
            assert changed != body or "set" in pair, f"{file.name}: {pair}"
            inner = _merged(head, pair.get("set", {}))
            yield Case(
                name=f"{file.name}[{number}]",
                text=top + changed,
                head={**inner, **{k: pair[k] for k in ("expect", "why", "model", "granted") if k in pair}},
            )


def _named(told: Any) -> Any:
    # YAML takes `on` for a truth value.
    if isinstance(told, dict):
        return {("on" if key is True else key): _named(value) for key, value in told.items()}
    return [_named(one) for one in told] if isinstance(told, list) else told


def _merged(head: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(head)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged
