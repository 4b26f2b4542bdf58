"""The shape of ``source:``: what of the main source Hudi and HoodieStreamer have no property for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from freshet.project.shape.changelog import Changelog
from freshet.project.shape.strategies import Model, Name, one_as_list


class Source(Model):
    """Topics of Kafka and how their records are decoded, or a changelog, in topics or in a table."""

    topics: Annotated[list[Name], BeforeValidator(one_as_list)] = Field(
        default_factory=list,
        description="Topics that are read together; one alone is hoodie.streamer.source.kafka.topic.",
    )
    pattern: Name | None = Field(
        None,
        description="Regular expression that the whole names of the topics match, later ones among them.",
    )
    format: Literal["json", "text", "bytes", "changelog"] = Field(
        "json",
        description="What a record's value is: json: an object, whose fields become columns; text: UTF-8, as the column value; "
        "bytes: as they are, as the column value; changelog: a change of a row, see changelog.",
    )
    changelog: Changelog | None = Field(
        None, description="format: changelog: how changes are read, of topics or of a table, and merged into the target."
    )
    columns: dict[Name, Name] | None = Field(
        None,
        description="Columns of the JSON and their types, as a DDL writes them; left out, those of the target's DDL.",
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


#: What holds where nothing stands under ``source:``.
NOT_SAID = Source.model_validate({})
