"""How a pipeline reads its tables, and how its index finds rows, in words."""

from __future__ import annotations

from freshet.changelog.declared import kept_in_words, order_in_words
from freshet.project.model.files import FilesSpec
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import InputSpec, PipelineSpec
from freshet.sources.registry import kind_of

_AS_OF = {
    "latest": "",
    "run_start": ", as it stands when the run is planned",
    "checkpoint": ", as the target has seen it so far",
}


def source_in_words(spec: PipelineSpec) -> str:
    """Return how the main source is read."""
    log = spec.source.changelog
    if log is not None:
        place = spec.source.place if isinstance(spec.source, KafkaSpec) else spec.source.table.name
        order = order_in_words(log.source.reference)
        what = (
            f"{place}: the events since the checkpoint, at most {kind_of(spec).most(spec)} a run, as {log.adapter} writes them"
        )
        return f"{what}; the newer one by {order}; {kept_in_words(log.layout)}"
    most = f"at most {kind_of(spec).most(spec)} a run"
    if isinstance(spec.source, KafkaSpec):
        tombstones = {"": "refused", "delete": "deletes", "row": "rows of nulls"}[spec.source.tombstones]
        return f"{spec.source.place}: the records since the checkpoint, {most}, tombstones are {tombstones}"
    if isinstance(spec.source, FilesSpec):
        late = f"up to {spec.source.late_seconds / 3600:g} h older than the newest"
        return f"{spec.source.place}: the files of {spec.source.format} that were not read, {most}, late ones {late}"
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
