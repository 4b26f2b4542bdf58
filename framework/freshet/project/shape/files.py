"""The shape of a pipeline file and of a config file: what keys there are, of what type, and what they mean.

The same models validate the files and give the JSON Schema that editors complete from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from freshet.hudi.keys.streamer_options import advice_for
from freshet.problems import Problems, did_you_mean, is_misspelt, nearest
from freshet.project.shape.backup import Backup
from freshet.project.shape.budget import NO_LIMIT, Budget
from freshet.project.shape.changelog import Changelog, ReferenceKey, Values
from freshet.project.shape.checks import Check, Compared, Freshness, Reference, Volume
from freshet.project.shape.event_times import EventTimes
from freshet.project.shape.examples import example_of
from freshet.project.shape.running import NO_LINEAGE, NO_PROMISE, NOWHERE, Lease, Lineage, Metrics, Objectives, Run
from freshet.project.shape.source import RegistrySchemas, Source
from freshet.project.shape.strategies import Accept, Backfill, Input, Model, Name, Write, one_as_list
from freshet.project.shape.timing import DEFAULT_ZONE, Continuous, Cron, InsteadOfSchedule, TimeZone
from freshet.project.syntax.files import Place

Scalar = bool | int | float | str


class Shared(Model):
    """Keys that configs and pipelines both may hold; a pipeline's value wins."""

    vars: dict[str, Scalar] = Field(default_factory=dict, description="Variables for templates: {{ var.name }}.")
    lease: Lease = Field(
        Lease.model_construct(),
        description="How long a run waits for another run of the same pipeline, and whether other machines wait, too.",
    )
    schedule_zone: TimeZone = Field(
        DEFAULT_ZONE, examples=["Europe/Berlin"], description="Time zone of `schedule`, by its name in the IANA's database."
    )
    run: Run = Field(Run.model_construct(), description="How long a run may take, and may do nothing.")
    budget: Budget = Field(NO_LIMIT, description="What a run may cost at most; `freshet plan` estimates it.")
    hoodie: dict[str, str] = Field(
        default_factory=dict, description="Hudi's and HoodieStreamer's own properties, by their names."
    )
    spark: dict[str, str] = Field(default_factory=dict, description="Settings of the Spark session: spark.*.")


class ConfigFile(Shared):
    """A file in configs/: what differs between environments."""

    warehouse: dict[str, str] = Field(
        default_factory=dict, description="Folder or URI of each database, by its name: raw.trips lies in <raw>/trips."
    )
    metrics: Metrics = Field(NOWHERE, description="Where metrics go after each run of a pipeline.")
    lineage: Lineage = Field(NO_LINEAGE, description="Where lineage goes, as OpenLineage events of each run.")


class PipelineFile(Shared):
    """A file in pipelines/: one target table and how it is computed."""

    ddl: Name = Field(description="DDL file of the target table, relative to the project.")
    transform: Annotated[list[Name], Field(min_length=1), BeforeValidator(one_as_list)] = Field(
        default_factory=list,
        description="SQL and Python files, relative to the project, applied in this order; of a changelog there are none.",
    )
    owner: str = Field("", description="Who answers for the table.")
    description: str = Field("", description="What the table holds, in one sentence.")
    schedule: Cron = Field(
        "",
        examples=["*/30 * * * *"],
        description="When `freshet serve`, or another scheduler, runs the pipeline: cron text with five fields.",
    )
    continuous: InsteadOfSchedule = Field(
        None, description="Run under `freshet serve` whenever something is new, instead of by `schedule`."
    )
    slo: Objectives = Field(
        NO_PROMISE, description="What the pipeline promises its readers; `freshet status` says whether it is kept."
    )
    event_times: EventTimes | None = Field(
        None, description="Whose event times runs count: how late events are published, and how much of each window is there."
    )
    tags: Annotated[list[Name], BeforeValidator(one_as_list)] = Field(
        default_factory=list, description="Labels that select pipelines on the command line."
    )
    inputs: dict[str, Input] = Field(
        default_factory=dict, description="Tables that the transformation joins, by the name that it uses for them."
    )
    source: Source | None = Field(
        None, description="Topics of Kafka, files, or a changelog, as far as HoodieStreamer has no property for them."
    )
    write: Write | None = Field(
        None, description="How rows are written, where hoodie.datasource.write.operation does not say it."
    )
    backfill: Backfill | None = Field(None, description="How `freshet backfill` computes a range of dates again.")
    accepts: list[Accept] = Field(
        default_factory=list,
        description="Reasons why the increments may differ from a recompute, which the author accepts: "
        "{code: LOOKBACK_IS_BOUNDED, why: ...}. `freshet explain` names them.",
    )
    exactness: Literal["row_by_row"] | None = Field(
        None,
        description="What is true of the Python steps: row_by_row: each makes one row of each row, by itself alone, and leaves "
        "the record key, the ordering field and _hoodie_is_deleted as they are.",
    )
    checks: list[Check] = Field(
        default_factory=list, description="What must hold before anything is published; see docs/checks.md."
    )
    schema_contract: Literal["nothing", "add_columns", "widen"] = Field(
        "nothing",
        description="What a batch may change about the table beyond the DDL: nothing; add_columns: add nullable columns; "
        "widen: that, and widen int to bigint or double and float to double.",
    )
    partition_is_stable: bool = Field(
        False,
        strict=False,
        description="A promise: a key's partition never changes. A bucket index on a partitioned table needs it.",
    )


class Settings(PipelineFile):
    """A pipeline after its configs were laid below it."""

    warehouse: dict[str, str] = Field(default_factory=dict, description="Folder or URI of each database.")
    metrics: Metrics = Field(NOWHERE, description="Where metrics go.")
    lineage: Lineage = Field(NO_LINEAGE, description="Where lineage goes.")


PlaceOf = Callable[[tuple[str, ...]], Place]


def validate_settings(values: Mapping[str, Any], problems: Problems, place_of: PlaceOf) -> Settings | None:
    """Validate a pipeline's merged settings.

    Args:
        values: Plain values by key.
        problems: Receives what does not fit.
        place_of: Gives the place of a path of keys, of the nearest place that exists.

    Returns:
        The settings, or None where something did not fit.
    """
    try:
        return Settings.model_validate(dict(values))
    except ValidationError as error:
        # include_input is off: a value may hold a secret.
        seen: set[tuple[str, ...]] = set()
        errors = [
            (tuple(str(part) for part in found["loc"]), found["type"], found["msg"], found.get("ctx", {}))
            for found in error.errors(include_url=False, include_input=False)
        ]
        unknown = [path for path, kind, _, _ in errors if kind == "extra_forbidden"]
        for path, kind, message, context in errors:
            if not (kind == "missing" and is_misspelt(path, unknown)):
                _note(path, kind, message, context, problems, place_of, seen)
        return None


def check_keys(entries: Mapping[str, int], model: type[Model], file: str, problems: Problems) -> None:
    """Report top-level keys that a file of this kind cannot have.

    Args:
        entries: Line of each key.
        model: ConfigFile or PipelineFile.
        file: The file.
        problems: Receives UNKNOWN_KEY, or MISPLACED_KEY where another kind of file may hold it.
    """
    known = model.model_fields
    for key, line in entries.items():
        if key in known:
            continue
        if key in Settings.model_fields:
            other = (
                "configs/base.yml or configs/<env>.yml"
                if key in ("warehouse", "metrics", "lineage")
                else "a file in pipelines/"
            )
            problems.add(file, line, "MISPLACED_KEY", f"'{key}' cannot stand in this file.", f"It belongs in {other}.")
        else:
            problems.add(file, line, "UNKNOWN_KEY", f"Unknown key '{key[:80]}'.", unknown_key_hint(key, known))


def unknown_key_hint(key: str, known: Mapping[str, Any]) -> str:
    """Say where a key belongs that stands in the wrong place, or which one is meant."""
    if key.startswith("hoodie."):
        return "Hudi's properties belong under 'hoodie:'."
    if key.startswith("-"):
        return advice_for(key)
    if key.startswith("spark."):
        return "Spark's settings belong under 'spark:'."
    return did_you_mean(key, known)


def _note(
    path: tuple[str, ...],
    kind: str,
    message: str,
    context: Mapping[str, Any],
    problems: Problems,
    place_of: PlaceOf,
    seen: set[tuple[str, ...]],
) -> None:
    place = place_of(path)
    file, line = place.file, place.line
    dotted = ".".join(path)
    if kind == "missing":
        problems.add(file, line, "MISSING_KEY", f"The key '{dotted}' is missing.", example_of(path[-1]))
    elif kind == "extra_forbidden":
        nested: dict[str, type[BaseModel]] = {
            "inputs": Input,
            "source": Source,
            "continuous": Continuous,
            "lease": Lease,
            "run": Run,
            "slo": Objectives,
            "event_times": EventTimes,
            "budget": Budget,
            "metrics": Metrics,
            "lineage": Lineage,
            "write": Write,
            "backfill": Backfill,
            "accepts": Accept,
            "checks": Check,
        }
        in_checks: dict[str, type[BaseModel]] = {
            "expect": Compared,
            "references": Reference,
            "freshness": Freshness,
            "volume": Volume,
        }
        in_changelog: dict[str, type[BaseModel]] = {"reference_key": ReferenceKey, "values": Values, "values_of": Values}
        owner: type[BaseModel] = nested.get(path[0], Settings)
        if owner is Check and len(path) > 3:
            owner = in_checks.get(path[2], Check)
        elif owner is Source and len(path) > 2:
            parts: dict[str, type[BaseModel]] = {"schema": RegistrySchemas, "bootstrap": Backup}
            of_source = parts.get(path[1], Changelog)
            owner = in_changelog.get(path[2], of_source) if len(path) > 3 else of_source
        known = [field.alias or name for name, field in owner.model_fields.items()]
        near = nearest(path[-1], known) or path[-1]
        problems.add(file, line, "UNKNOWN_KEY", f"Unknown key '{dotted}'.", did_you_mean(near, known))
    elif "hint" in context:
        problems.add(file, line, kind, f"{dotted}: {message}", context["hint"])
    else:
        # A union reports one error per member; one sentence is enough for one value.
        shown = path[:2] if path[0] == "vars" else path
        if shown not in seen:
            seen.add(shown)
            message = "must be one value" if path[0] == "vars" else message[:1].lower() + message[1:]
            problems.add(file, line, "WRONG_TYPE", f"{'.'.join(shown)}: {message}.", example_of(path[0]))
