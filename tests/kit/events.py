"""A pipeline over a changelog, and events as messages and as rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from freshet.changelog.adapter import Source
from freshet.changelog.declared import Changelog
from freshet.changelog.layout import Keeps, Layout, reserved_columns, stored_key
from freshet.changelog.reference import Given
from freshet.project.model.pipeline import PipelineSpec, SourceSpec
from freshet.project.model.steps import WriteSpec, WriteStrategy
from tests.kit.memory import COLUMNS, a_source_spec, a_spec, a_table_spec

_STRATEGY: Mapping[Keeps, WriteStrategy] = {"newest": "reference_key", "history": "history", "events": "append"}


def a_changelog(**changes: Any) -> Changelog:
    """Return events in freshet's own form, as rows, of whole rows of the target; ``source`` may be a mapping of changes."""
    layout = Layout(key=("trip_id",), columns=COLUMNS)
    source = Source(layout=layout, reference=Given())
    if isinstance(changes.get("source"), dict):
        changes["source"] = replace(source, **changes["source"])
    return Changelog(**{"adapter": "freshet", "source": source, "is_typed": True, **changes})


def an_event_spec(source: SourceSpec | None = None, log: Changelog | None = None, **changes: Any) -> PipelineSpec:
    """Return a pipeline that merges a changelog into a table without partitions."""
    log = log or a_changelog()
    columns = (*log.layout.columns, *reserved_columns(log.layout))
    return a_spec(
        source=replace(source or a_source_spec(), changelog=log),
        target=a_table_spec(columns=columns, partition_by=(), ordering_field="_event_order", record_key=stored_key(log.layout)),
        inputs=(),
        transform=(),
        write=WriteSpec(strategy=_STRATEGY[log.layout.keeps], columns=tuple(c.name for c in columns)),
        **changes,
    )
