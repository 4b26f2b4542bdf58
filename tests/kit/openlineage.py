"""Holds OpenLineage events against the classes that openlineage-python generates from the published schemas.

Stricter than the schemas themselves: these allow further keys everywhere, and a misspelt one would pass.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any

import attr
from openlineage.client import event_v2, facet_v2

#: Each facet by the key under which the specification has it.
FACETS: Mapping[str, type[Any]] = {
    "externalQuery": facet_v2.external_query_run.ExternalQueryRunFacet,
    "processing_engine": facet_v2.processing_engine_run.ProcessingEngineRunFacet,
    "errorMessage": facet_v2.error_message_run.ErrorMessageRunFacet,
    "jobType": facet_v2.job_type_job.JobTypeJobFacet,
    "ownership": facet_v2.ownership_job.OwnershipJobFacet,
    "documentation": facet_v2.documentation_job.DocumentationJobFacet,
    "sql": facet_v2.sql_job.SQLJobFacet,
    "schema": facet_v2.schema_dataset.SchemaDatasetFacet,
    "symlinks": facet_v2.symlinks_dataset.SymlinksDatasetFacet,
    "version": facet_v2.dataset_version_dataset.DatasetVersionDatasetFacet,
    "columnLineage": facet_v2.column_lineage_dataset.ColumnLineageDatasetFacet,
    "inputStatistics": facet_v2.input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
    "outputStatistics": facet_v2.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
    "dataQualityAssertions": facet_v2.data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet,
}
_OF_FACETS = ("facets", "inputFacets", "outputFacets")


def check(event: Mapping[str, Any]) -> None:
    """Fail where an event is none of OpenLineage's, or has a key that OpenLineage does not know."""
    _check(event, event_v2.RunEvent, "event")


def _check(value: object, kind: Any, at: str) -> None:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        assert value is not None, f"{at}: null, which is left out"
        (kind,) = (one for one in parts if one is not type(None))
        _check(value, kind, at)
    elif origin is list:
        assert isinstance(value, list), at
        for number, one in enumerate(value):
            _check(one, parts[0], f"{at}[{number}]")
    elif origin is dict:
        assert isinstance(value, dict), at
        for key, one in value.items():
            of_facets = at.rpartition(".")[2] in _OF_FACETS
            _check(one, FACETS[key] if of_facets else parts[1], f"{at}.{key}")
    elif attr.has(kind):
        _check_class(value, kind, at)
    elif isinstance(kind, type) and issubclass(kind, Enum):
        assert value in [one.value for one in kind], f"{at}: {value!r}"
    elif kind is not Any:
        assert type(value) is kind, f"{at}: {value!r} is no {kind}"


def _check_class(value: object, kind: Any, at: str) -> None:
    assert isinstance(value, dict), f"{at}: {value!r} is no {kind.__name__}"
    attr.resolve_types(kind)
    known = {one.name: one for one in attr.fields(kind)}
    assert set(value) <= set(known), f"{at}: {sorted(set(value) - set(known))} unknown to {kind.__name__}"
    needed = {name for name, one in known.items() if one.default is attr.NOTHING}
    assert needed <= set(value), f"{at}: {sorted(needed - set(value))} missing"
    for name, one in value.items():
        _check(one, known[name].type, f"{at}.{name}")
    if "_schemaURL" in known:
        assert value["_schemaURL"] == kind._get_schema(), at
    # Its own validators: a UUID, a time.
    made = {name: one for name, one in value.items() if not name.startswith("_") and known[name].init}
    kind(**made)
