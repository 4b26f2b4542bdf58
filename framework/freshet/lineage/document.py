"""One OpenLineage event, made of openlineage-python's classes: these hold it to the published schemas.

Imported where an environment has a way out alone: the package is the extra ``lineage``.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from openlineage.client import event_v2 as ol
from openlineage.client import facet_v2 as facets
from openlineage.client.serde import Serde

from freshet import __version__
from freshet.hudi.table import StateReader
from freshet.lineage.columns import Origin, origins_of
from freshet.lineage.datasets import Dataset, inputs_of, of_table
from freshet.lineage.told import SUCCESS, Ending, Told
from freshet.project.model.pipeline import PipelineSpec
from freshet.secrets import redact_tree
from freshet.types.columns import Column
from freshet.verdict.columns import SRC
from freshet.verdict.tables import facts_of

#: Who made the events: OpenLineage wants a URI.
PRODUCER = f"urn:freshet:{__version__}"
_JOB_TYPES = {"run": "RUN", "chunk": "BACKFILL"}
_LONGEST_TEXT = 200
_PYTHON_STEP = "of the SQL; a Python step after it may use further columns"


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the events of one pipeline have in common.

    Args:
        inputs: What it reads, by the names in its SQL.
        origins: Where the columns of its target come from.
    """

    inputs: Mapping[str, tuple[Dataset, ...]]
    origins: Mapping[str, Origin]


def known_of(spec: PipelineSpec, state: StateReader) -> Known:
    """Return what is the same in all events of a pipeline.

    Args:
        spec: The pipeline.
        state: Reader of the tables that it reads.
    """
    return Known(inputs=inputs_of(spec, state), origins=origins_of(spec, facts_of(spec, {}, None, state)))


def run_uuid(env: str, told: Told) -> str:
    """Return what a run is called to OpenLineage, which takes nothing but a UUID: the same one each time it is asked."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"freshet:{env}:{told.pipeline}:{told.run_id}"))


def document_of(spec: PipelineSpec, env: str, known: Known, told: Told, ending: Ending, time: float) -> dict[str, Any]:
    """Return an event as JSON, without secrets.

    Args:
        spec: The pipeline.
        env: The environment's name.
        known: What its events have in common.
        told: The run so far.
        ending: What the event says of it.
        time: When that was, in seconds since 1970.
    """
    event = ol.RunEvent(
        eventType=ol.RunState(ending),
        eventTime=datetime.fromtimestamp(time, timezone.utc).isoformat(timespec="milliseconds"),
        run=ol.Run(runId=run_uuid(env, told), facets=_run_facets(told, ending)),
        job=ol.Job(namespace=spec.lineage.namespace or f"freshet.{env}", name=spec.name, facets=_job_facets(spec, told)),
        inputs=_inputs(known, told),
        outputs=_outputs(spec, known, told, ending),
        producer=PRODUCER,
    )
    found: dict[str, Any] = redact_tree(_signed(Serde.to_dict(event)))
    return found


def _signed(tree: Any) -> Any:
    # The package's own name stands in each facet, and only a setting of the whole process would change it.
    match tree:
        case dict():
            return {key: PRODUCER if key == "_producer" else _signed(value) for key, value in tree.items()}
        case list():
            return [_signed(one) for one in tree]
        case _:
            return tree


def _run_facets(told: Told, ending: Ending) -> dict[str, Any]:
    found: dict[str, Any] = {
        "externalQuery": facets.external_query_run.ExternalQueryRunFacet(externalQueryId=told.run_id, source="freshet"),
        "processing_engine": facets.processing_engine_run.ProcessingEngineRunFacet(
            version=__version__, name="freshet", openlineageAdapterVersion=__version__
        ),
    }
    if ending in ("FAIL", "ABORT") and told.error:
        words = f"{told.error.get('code', '')}: {told.error.get('message', '')}"
        found["errorMessage"] = facets.error_message_run.ErrorMessageRunFacet(message=words, programmingLanguage="PYTHON")
    return found


def _job_facets(spec: PipelineSpec, told: Told) -> dict[str, Any]:
    found: dict[str, Any] = {
        "jobType": facets.job_type_job.JobTypeJobFacet(
            processingType="BATCH", integration="FRESHET", jobType=_JOB_TYPES.get(told.what, told.what.upper())
        )
    }
    if spec.owner:
        found["ownership"] = facets.ownership_job.OwnershipJobFacet(owners=[facets.ownership_job.Owner(name=spec.owner)])
    if spec.description:
        found["documentation"] = facets.documentation_job.DocumentationJobFacet(description=spec.description)
    sql = ";\n".join(one.text.strip() for step in spec.transform for one in step.statements)
    if sql:
        found["sql"] = facets.sql_job.SQLJobFacet(query=sql, dialect="spark")
    return found


def _inputs(known: Known, told: Told) -> list[ol.InputDataset]:
    found: dict[tuple[str, str], ol.InputDataset] = {}
    for name, datasets in known.inputs.items():
        for one in datasets:
            made = ol.InputDataset(namespace=one.namespace, name=one.name, facets=_dataset_facets(one))
            if name == SRC and told.read_upto:
                _add(made.facets, "version", facets.dataset_version_dataset.DatasetVersionDatasetFacet(told.read_upto))
            if name == SRC and told.rows_read is not None and len(datasets) == 1:
                read = facets.input_statistics_input_dataset.InputStatisticsInputDatasetFacet(rowCount=told.rows_read)
                _add(made.inputFacets, "inputStatistics", read)
            # The source's own table may be read once more, as it was before.
            found.setdefault((one.namespace, one.name), made)
    return list(found.values())


def _outputs(spec: PipelineSpec, known: Known, told: Told, ending: Ending) -> list[ol.OutputDataset]:
    target = of_table(spec.target.ref, spec.target.columns)
    made = ol.OutputDataset(namespace=target.namespace, name=target.name, facets=_dataset_facets(target))
    fields = {name: _field(known, origin) for name, origin in known.origins.items()}
    if fields:
        _add(made.facets, "columnLineage", facets.column_lineage_dataset.ColumnLineageDatasetFacet(fields=fields))
    assertions = [_assertion(check) for check in told.checks if check.get("status") in SUCCESS]
    if assertions:
        quality = facets.data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(assertions)
        _add(made.facets, "dataQualityAssertions", quality)
    found = [made]
    if ending != "COMPLETE":
        return found
    if told.commit:
        _add(made.facets, "version", facets.dataset_version_dataset.DatasetVersionDatasetFacet(told.commit))
    if told.rows is not None:
        _add(made.outputFacets, "outputStatistics", _written(told.rows))
    if told.quarantined:
        apart = of_table(spec.quarantine)
        kept = ol.OutputDataset(namespace=apart.namespace, name=apart.name, facets=_dataset_facets(apart))
        _add(kept.outputFacets, "outputStatistics", _written(told.quarantined))
        found.append(kept)
    return found


def _add(into: dict[str, Any] | None, name: str, facet: object) -> None:
    # The package's types allow for none; its constructors make one.
    if into is not None:
        into[name] = facet


def _written(rows: int) -> Any:
    return facets.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=rows)


def _dataset_facets(one: Dataset) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if one.columns:
        found["schema"] = facets.schema_dataset.SchemaDatasetFacet(fields=_fields(one.columns))
    if one.table:
        symlinks = facets.symlinks_dataset
        found["symlinks"] = symlinks.SymlinksDatasetFacet([symlinks.Identifier(one.namespace, one.table, "TABLE")])
    return found


def _fields(columns: Sequence[Column]) -> list[Any]:
    field = facets.schema_dataset.SchemaDatasetFacetFields
    return [field(name=one.name, type=str(one.type), description=one.comment or None) for one in columns]


def _field(known: Known, origin: Origin) -> Any:
    module = facets.column_lineage_dataset
    how: dict[str, Any] = {"type": "DIRECT", "subtype": "IDENTITY" if origin.is_same else "TRANSFORMATION"}
    if not origin.is_all:
        how["description"] = _PYTHON_STEP
    return module.Fields(
        inputFields=[
            module.InputField(one.namespace, one.name, column, [module.Transformation(**how)])
            for table, column in origin.of
            for one in known.inputs.get(table, ())
        ]
    )


def _assertion(check: Mapping[str, Any]) -> Any:
    return facets.data_quality_assertions_dataset.Assertion(
        assertion=str(check.get("kind", "")),
        success=SUCCESS[str(check["status"])],
        severity="error" if check.get("severity") == "fail" else "warn",
        name=str(check.get("name", "")),
        expected=str(check.get("expected", ""))[:_LONGEST_TEXT] or None,
        actual=str(check.get("seen", ""))[:_LONGEST_TEXT] or None,
    )
