"""The shape of ``source:``: what of the main source Hudi and HoodieStreamer have no property for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from freshet.project.shape.backup import Backup
from freshet.project.shape.changelog import Changelog
from freshet.project.shape.strategies import Duration, Model, Name, Size, one_as_list, refused

Format = Literal["json", "json_schema", "avro", "text", "bytes", "csv", "parquet", "orc", "changelog"]


class RegistrySchemas(Model):
    """A schema registry whose schemas the records of Avro were written with: each has the id of its own in front."""

    registry: Name = Field(
        description="Address of its REST interface: http://host:8081; several servers with commas between. User and password "
        "in front of the host are read from the environment: https://{{ env.REGISTRY_LOGIN }}@host."
    )
    subjects: Annotated[list[Name], BeforeValidator(one_as_list)] = Field(
        default_factory=list,
        description="Subjects whose schemas records may have; left out, <topic>-value of each topic.",
    )
    compatibility: Literal["check"] | None = Field(
        None,
        description="check: `freshet validate --deep` and `freshet plan` hold the columns against the newest schema of each "
        "subject; where a field does not fit its column, the run is refused.",
    )


class Key(Model):
    """Keys of records that are Avro, as serialisers of a schema registry write them: they become the column _key."""

    format: Literal["avro"] = Field(
        description="avro: a record or a plain value of Avro, with the id of its schema in front or its GUID in a header."
    )
    columns: dict[Name, Name] = Field(
        description="Fields of the struct _key and their types, as a DDL writes them; of keys that are no record the one field "
        "that holds them."
    )
    registry: Name | None = Field(
        None, description="Address of the registry that has their schemas; left out, that of source.schema."
    )
    subjects: Annotated[list[Name], BeforeValidator(one_as_list)] = Field(
        default_factory=list,
        description="Subjects whose schemas keys may have; left out, <topic>-key of each topic.",
    )


def _known(value: Any) -> Any:
    if isinstance(value, str) and value.lower() in ("protobuf", "proto"):
        said = "Protobuf is not decoded: Spark has no decoder of it on board, and freshet brings none."
        hint = "Write 'format: bytes', and let a Python step decode the column value; or let the producers write Avro or JSON."
        raise refused(said, hint, "NOT_SUPPORTED")
    return value


class Files(Model):
    """Which of the files below hoodie.streamer.source.dfs.root are read, when, and how many at a time."""

    pattern: Name | None = Field(
        None,
        description="Which files are read, by their paths below the root: * and ? stand for characters of a name, ** for any "
        "folders; without / it is the name's alone. [default: all]",
        examples=["*.json.gz"],
    )
    format: Literal["json", "parquet", "orc", "avro"] | None = Field(
        None,
        description="format: changelog: what the files are: json: a message a line; parquet, orc, avro: rows with _event. "
        "[default: json]",
    )
    max_files: int = Field(10_000, ge=1, strict=False, description="So many files are read by one run at most.")
    max_bytes: Size = Field("10GB", description="So many bytes, as they are stored; a larger file is read alone.")
    quiet: Duration = Field(
        "1m", description="A file that was modified so short a time ago may still be written, and is left alone."
    )
    late: Duration = Field(
        "1d",
        description="So much older than the newest file that was read one may be that comes afterwards: for so long each file "
        "is remembered by itself.",
    )
    too_late: Literal["fail", "warn"] = Field(
        "fail", description="What becomes of one that is older: fail ends the run; warn says so, and goes on without it."
    )
    rewritten: Literal["fail", "read", "ignore"] = Field(
        "fail",
        description="What becomes of a file that was read and has another size or time: fail ends the run, read reads it "
        "again, ignore leaves it as it was read.",
    )
    empty: Literal["wait", "skip"] = Field(
        "wait", description="What becomes of files without a byte: wait leaves them alone, skip counts them as read."
    )
    marker: Name | None = Field(
        None,
        description="Name of the file with which the files of its folder are complete, such as _SUCCESS. [default: none]",
    )


class Source(Model):
    """Topics of Kafka, or files, and how their records are read; or a changelog, in topics, files or a table."""

    topics: Annotated[list[Name], BeforeValidator(one_as_list)] = Field(
        default_factory=list,
        description="Topics that are read together; one alone is hoodie.streamer.source.kafka.topic.",
    )
    pattern: Name | None = Field(
        None,
        description="Regular expression that the whole names of the topics match, later ones among them.",
    )
    format: Annotated[Format, BeforeValidator(_known)] = Field(
        "json",
        description="What a record's value is: json: an object, whose fields become columns; json_schema: the same, behind the "
        "id of a schema in a registry; avro: a record, by the schema of a file or those of a registry; text: UTF-8, as the "
        "column value; bytes: as they are, as the column value; changelog: a change of a row, see changelog. What files are: "
        "json: an object a line; csv, parquet, orc, avro; changelog.",
    )
    files: Files | None = Field(
        None, description="Which of the files below hoodie.streamer.source.dfs.root are read, when, and how many at a time."
    )
    schema_: RegistrySchemas | None = Field(
        None,
        alias="schema",
        description="format: avro: the registry that has the schemas; without one, the schema is that of "
        "hoodie.streamer.schemaprovider.source.schema.file.",
    )
    key: Key | None = Field(None, description="How records' keys are decoded; left out, they are the bytes _kafka.key alone.")
    changelog: Changelog | None = Field(
        None, description="format: changelog: how changes are read, of topics or of a table, and merged into the target."
    )
    bootstrap: Backup | None = Field(
        None,
        description="format: changelog: a backup of the table, which is loaded first; then come the changes since the position "
        "that it names.",
    )
    columns: dict[Name, Name] | None = Field(
        None,
        description="Columns of the records and their types, as a DDL writes them; left out, those of the target's DDL.",
    )
    mode: Literal["permissive", "strict"] = Field(
        "permissive",
        description="permissive: fields that are no columns are left out; strict: a record that has one cannot be decoded.",
    )
    tombstones: Literal["delete", "row"] | None = Field(
        None,
        description="What a record without a value is: delete: a row with _hoodie_is_deleted; row: a row of nulls; left out, "
        "one that cannot be decoded.",
    )
    # Named, so that who asks for it is not told that it is a misspelt key.
    max_bytes: SkipJsonSchema[Any] = None

    @field_validator("max_bytes", mode="before")
    @classmethod
    def _is_not_known(cls, value: object) -> object:
        raise refused(
            "a window of topics is not bounded by bytes: offsets tell no sizes, and a guess from a few records is no bound.",
            "Write 'hoodie.streamer.kafka.source.maxEvents' under 'hoodie:': the bytes divided by a record's usual size.",
            "NOT_SUPPORTED",
        )


#: What holds where nothing stands under ``source:``.
NOT_SAID = Source.model_construct()
