"""By which schemas the records of topics are decoded: that of a file of the project, or those of a registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from freshet.errors import StateError
from freshet.hudi.keys.options import KAFKA_SCHEMA_FILE
from freshet.problems import Problems
from freshet.project.model.kafka import KafkaSpec
from freshet.project.shape.source import RegistrySchemas, Source
from freshet.project.syntax.ddl import Setting
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.registry.address import Address, address_of
from freshet.secrets import Redactor

Settings = Mapping[str, Setting]
PlaceOf = Callable[..., Place]
_WAYS = (
    f"Write '{KAFKA_SCHEMA_FILE}: <file>' under 'hoodie:', or, where each record has the id of a schema in front, "
    "'schema: {registry: <address>}' under 'source:'."
)


def with_schema(
    spec: KafkaSpec,
    settings: Settings,
    declared: Source | None,
    place: PlaceOf,
    files: ProjectFiles,
    secrets: Redactor,
    problems: Problems,
) -> KafkaSpec:
    """Return topics with what their records are decoded by.

    Args:
        spec: The topics, with the columns of their values.
        settings: One value per key.
        declared: What stands under ``source:``.
        place: Gives the place of a path of keys.
        files: The project's files.
        secrets: The secrets that the pipeline's files read.
        problems: Receives MISSING_KEY, CONFLICTING_SETTING, BAD_VALUE, SECRET_IN_FILE, SCHEMA_MISFIT, and what is wrong with
            the file.
    """
    named = settings.get(KAFKA_SCHEMA_FILE)
    told = declared.schema_ if declared is not None else None
    if spec.format != "avro":
        _refuse_unused(spec, named, told, place, problems)
        return spec
    if named is not None and told is not None:
        at = place("source", "schema")
        said = f"The schema is said to be that of a file here, and those of a registry in {at.file}:{at.line}."
        problems.add(named.file, named.line, "CONFLICTING_SETTING", said, "Keep one of them.")
    elif told is not None:
        return _of_registry(spec, told, place, secrets, problems)
    elif named is not None:
        text = files.read(named.value.strip(), Place(named.file, named.line), "schema file", problems)
        return spec if text is None else _of_file(spec, named, text, problems)
    else:
        at = place("source", "format")
        problems.add(at.file, at.line, "MISSING_KEY", "Records of Avro are read, and nothing says by which schema.", _WAYS)
    return spec


def refuse_schemas_of_events(settings: Settings, declared: Source | None, place: PlaceOf, problems: Problems) -> None:
    """Report schemas of Avro for a changelog, whose adapters read JSON: its records would be read as what they are not.

    Args:
        settings: One value per key.
        declared: What stands under ``source:``.
        place: Gives the place of a path of keys.
        problems: Receives NOT_SUPPORTED.
    """
    named = settings.get(KAFKA_SCHEMA_FILE)
    at = [place("source", "schema")] if declared is not None and declared.schema_ is not None else []
    at += [Place(named.file, named.line)] if named is not None and not named.file.startswith("configs/") else []
    for one in at:
        said = "Events of a changelog are read as JSON, and not by schemas of Avro."
        hint = "Let the connector write JSON, by org.apache.kafka.connect.json.JsonConverter; or decode in a pipeline before "
        hint += "this one: docs/guides/changelog.md, Debezium in Avro."
        problems.add(one.file, one.line, "NOT_SUPPORTED", said, hint)


def _refuse_unused(
    spec: KafkaSpec, named: Setting | None, told: RegistrySchemas | None, place: PlaceOf, problems: Problems
) -> None:
    hint = "Remove it, or write 'format: avro'."
    if named is not None and not named.file.startswith("configs/"):
        said = f"'{KAFKA_SCHEMA_FILE}' is of records of Avro, and the format is {spec.format}."
        problems.add(named.file, named.line, "CONFLICTING_SETTING", said, hint)
    if told is not None:
        at = place("source", "schema")
        said = f"source.schema is of records of Avro, and the format is {spec.format}, which is decoded by the columns alone."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", said, hint)


def _of_registry(spec: KafkaSpec, told: RegistrySchemas, place: PlaceOf, secrets: Redactor, problems: Problems) -> KafkaSpec:
    address = registry_at(told.registry, ("source", "schema", "registry"), place, secrets, problems)
    return replace(
        spec, registry=address, subjects=tuple(dict.fromkeys(told.subjects)), is_compared=told.compatibility == "check"
    )


def registry_at(text: str, path: Sequence[str], place: PlaceOf, secrets: Redactor, problems: Problems) -> Address | None:
    """Return the registry at an address; None where it is none, which is reported.

    Args:
        text: The address.
        path: Where it stands.
        place: Gives the place of a path of keys.
        secrets: The secrets that the pipeline's files read.
        problems: Receives BAD_VALUE and SECRET_IN_FILE.
    """
    at, shown = place(*path), ".".join(path)
    try:
        address = address_of(text)
    except StateError as error:
        problems.add(at.file, at.line, "BAD_VALUE", f"{shown}: {error.message}", error.next_step)
        return None
    if address.password and secrets.redact_whole(text) == text:
        said = f"{shown}: the password stands in the file, where everybody reads it who reads the project."
        hint = (
            "Read it from the environment: 'registry: https://{{ env.REGISTRY_LOGIN }}@<host>', with <user>:<password> there."
        )
        problems.add(at.file, at.line, "SECRET_IN_FILE", said, hint)
    return address


def _of_file(spec: KafkaSpec, named: Setting, text: str, problems: Problems) -> KafkaSpec:
    # An idle run of a pipeline without Avro need not load what asks registries.
    from freshet.registry.branches import branches
    from freshet.registry.client import Schema
    from freshet.registry.compatibility import differences
    from freshet.registry.inline import inlined

    file, line = named.file, named.line
    try:
        whole = inlined(text, {})
    except ValueError as error:
        said = f"{named.value} is no schema of Avro: {error}."
        problems.add(file, line, "BAD_VALUE", said, "Write the schema of a record, with all that it refers to inside.")
        return spec
    schema = Schema(id=0, kind="AVRO", text=whole)
    wrong = [one.message for one in differences(spec.columns, schema) if one.kind == "problem"]
    wrong = wrong or list(branches({0: schema}, [column.name for column in spec.columns], spec.is_strict).refused.values())
    hint = "Correct 'source: {columns: ...}' or the DDL: a column has the name and a type of its field in the schema."
    for one in wrong:
        problems.add(file, line, "SCHEMA_MISFIT", f"{named.value}: {one}.", hint)
    return replace(spec, avro_schema=whole)
