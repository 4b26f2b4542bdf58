"""``freshet explain``: whether a pipeline's increments equal a recompute, and how it reads and writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from freshet.cases.verdicts import verdicts_of
from freshet.changelog.declared import equal_in_words, groups_in_words, order_in_words
from freshet.cli.options import load, project_options, selection_options
from freshet.cli.output import Output, reporting
from freshet.errors import Exit
from freshet.hudi.timeline import TimelineState
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import InputSpec, PipelineSpec
from freshet.sources.registry import kind_of
from freshet.verdict.describe import verdict_json, verdict_lines
from freshet.verdict.result import Scope, Verdict

_AS_OF = {
    "latest": "",
    "run_start": ", as it stands when the run is planned",
    "checkpoint": ", as the target has seen it so far",
}


@click.command(short_help="Say whether increments equal a recompute, and how each table is read and written.")
@selection_options
@project_options
@reporting
def explain(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Say whether a pipeline's increments equal a recompute, and if not, why, and what to write instead.

    A verdict is `exact`, `exact if` what the YAML accepts does not happen, or `inexact`. Each reason has its place, the
    smallest change that goes wrong, and what to write instead. Below: how each table is read, which rows it brings into the
    run, which index finds the rows, and into which pieces (the scope) the result falls. Starts no Spark, and reads no row;
    what tables stand are asked for their keys.

    \b
    Examples:
      freshet explain trip_earnings
      freshet explain --all --output json
    """
    project = load(root, env, overrides, names, tags, everything)
    verdicts = verdicts_of(project, overrides, TimelineState())
    parts = [_text(spec, verdicts[spec.name]) for spec in project.pipelines]
    output.result("\n\n".join(parts), {"pipelines": [_json(spec, verdicts[spec.name]) for spec in project.pipelines]})
    return Exit.OK


def _text(spec: PipelineSpec, verdict: Verdict) -> str:
    first, *more = verdict_lines(verdict)
    lines = [spec.name, f"  verdict     {first}", *(f"              {line}" for line in more)]
    lines += [f"  {'' if number else 'scope':<12}{line}" for number, line in enumerate(_scope(verdict.scope))]
    lines += [
        f"  target      {spec.target.ref.name}, record key {', '.join(spec.target.record_key)}, "
        f"ordering field {spec.write.ordering or spec.target.ordering_field or 'none'}",
        f"  index       {spec.index.type}: {why_index(spec)}",
        f"  <SRC>       {source_in_words(spec)}",
    ]
    lines += [f"  {one.name:<11} {input_in_words(one)}" for one in spec.inputs]
    return "\n".join(lines)


def _json(spec: PipelineSpec, verdict: Verdict) -> dict[str, Any]:
    return {
        "pipeline": spec.name,
        **verdict_json(verdict),
        "target": {
            "table": spec.target.ref.name,
            "record_key": list(spec.target.record_key),
            "partition_by": list(spec.target.partition_by),
            "ordering": spec.write.ordering or spec.target.ordering_field,
        },
        "index": {"type": spec.index.type, "why": why_index(spec)},
        "source": {"table": spec.source.table.name, "words": source_in_words(spec)},
        "inputs": [
            {
                "name": one.name,
                "table": one.table.name,
                "read": one.read,
                "as_of": one.as_of,
                "drives": dict(one.drives),
                "on": {column: list(texts) for column, texts in one.on},
                "words": input_in_words(one),
            }
            for one in spec.inputs
        ],
    }


def source_in_words(spec: PipelineSpec) -> str:
    """Return how the main source is read."""
    most = f"at most {kind_of(spec).most(spec)} a run"
    log = spec.source.changelog
    if log is not None:
        place = spec.source.place if isinstance(spec.source, KafkaSpec) else spec.source.table.name
        order, groups = order_in_words(log.source.reference), groups_in_words(log.layout)
        what = f"{place}: the events since the checkpoint, {most}, as {log.adapter} writes them"
        return f"{what}; the newer one by {order}; {groups}; {equal_in_words(log.layout)}"
    if isinstance(spec.source, KafkaSpec):
        tombstones = {"": "refused", "delete": "deletes", "row": "rows of nulls"}[spec.source.tombstones]
        return f"{spec.source.place}: the records since the checkpoint, {most}, tombstones are {tombstones}"
    deletes = {
        "cdc": "deleted rows among them",
        "latest_state": "deleted rows left out",
        "auto": "deleted rows among them where the table keeps change data",
    }[spec.source.incremental_format]
    return f"{spec.source.table.name}: what changed since the checkpoint, {most}, {deletes}"


def input_in_words(one: InputSpec) -> str:
    """Return how an input is read, and which rows it drives."""
    match one.read:
        case "snapshot":
            how = f"whole{_AS_OF[one.as_of]}"
        case "affected_partitions":
            on = "; ".join(f"{column} in {' or '.join(texts)}" for column, texts in one.on)
            how = f"the partitions that <SRC> needs ({on}){_AS_OF[one.as_of]}"
        case _:
            how = f"what changed within {one.lookback_seconds / 3600:g} hours before the window"
    drives = ", ".join(f"{column} = {source}" for column, source in one.drives)
    return f"{one.table.name}: {how}" + (f"; a change brings the source's rows with {drives} into <SRC>" if drives else "")


def why_index(spec: PipelineSpec) -> str:
    """Return why the target's index finds every row."""
    if spec.index.is_global:
        return "looks a key up in every partition, so that a row may move"
    if not spec.target.partition_by:
        return "the table has no partitions"
    if set(spec.target.partition_by) <= set(spec.target.record_key):
        return "the record key holds the partition"
    return "the YAML promises that a key never changes its partition"


def _scope(scope: Scope) -> list[str]:
    if not scope.columns:
        return [f"none: {scope.why_none}"]
    return [
        f"{one.name}, in " + ", ".join(f"{'<SRC>' if t == 'SRC' else t}.{column}" for t, column in one.carried.items())
        for one in scope.columns
    ]
