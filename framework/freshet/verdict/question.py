"""What the analysis is asked about: the pipeline, and what is known of the tables that it reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import InputSpec, PipelineSpec
from freshet.project.model.records import RecordsSpec
from freshet.verdict.columns import SRC
from freshet.verdict.facts import TableFacts
from freshet.verdict.texts import columns_of

_ZONE = "spark.sql.session.timeZone"
_SETS_ZONE = re.compile(r"\s*SET\s+(TIME\s+ZONE|`?spark\.sql\.session\.timeZone)\b", re.IGNORECASE)
# As far from UTC in summer as in winter.
_FIXED = re.compile(r"(Etc/)?(UTC|GMT|UCT|Universal|Zulu|Z)|(UTC|GMT|UT)?[+-]\d{1,2}(:?\d\d)*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A pipeline, and what is known of its tables.

    Args:
        spec: The pipeline.
        facts: By the table's name in the SQL, lower case; ``src`` for the main source.
        source_key: The main source's record key, as it is known or taken for granted.
    """

    spec: PipelineSpec
    facts: Mapping[str, TableFacts]
    source_key: tuple[str, ...] = ()

    @property
    def inputs(self) -> Mapping[str, InputSpec]:
        """Return the other inputs, by their names, lower case."""
        return {one.name.lower(): one for one in self.spec.inputs}

    def of(self, table: str) -> TableFacts:
        """Return what is known of a table by its name in the SQL."""
        known = self.facts.get(table, TableFacts())
        if known.record_key or not self.is_source(table):
            return known
        return self.facts.get(SRC, TableFacts())

    def key_of(self, table: str) -> tuple[str, ...]:
        """Return a table's record key, lower case; empty where nobody says."""
        found = self.of(table).record_key or (self.source_key if self.is_source(table) else ())
        return tuple(column.lower() for column in found)

    def is_source(self, table: str) -> bool:
        """Say whether a name of the SQL is the main source, or an input over its table."""
        one = self.inputs.get(table)
        return table == SRC or (one is not None and same_place(one.table.path) == same_place(self.spec.source.table.path))

    @property
    def places(self) -> frozenset[str]:
        """Return the main source's partition columns: a change of one is a delete and an insert."""
        known = self.facts.get(SRC, TableFacts()).partition_by or ()
        read = [column for name, one in self.inputs.items() if self.is_source(name) for column, _ in one.on]
        return frozenset(column.lower() for column in (*known, *read))

    @property
    def rows_may_move(self) -> bool | None:
        """Say whether a row of the main source may go to another partition; None where nobody says."""
        known = self.facts.get(SRC, TableFacts()).partition_by
        if known is None and not self.places:
            return None
        return not self.places <= set(self.key_of(SRC))

    @property
    def zone(self) -> str:
        """Return the time zone of the session's texts where it has an hour twice a year, or may have; else empty."""
        told = self.spec.spark_conf.get(_ZONE, "UTC").strip()
        for statement in (statement.text for step in self.spec.transform for statement in step.statements):
            if _SETS_ZONE.match(statement):
                told = "that the SQL sets"
        return "" if _FIXED.fullmatch(told) else told

    def stays(self, text: str) -> bool:
        """Say whether the increment names the old value of an expression, too, where it changes."""
        return self.deletes_pass_on and columns_of(text) <= self.places | set(self.key_of(SRC))

    @property
    def deletes_pass_on(self) -> bool:
        """Say whether the rows that the source deleted are in the increment, as far as the files and the table tell."""
        if isinstance(self.spec.source, RecordsSpec):
            return self.spec.source.tombstones == "delete"
        if self.spec.source.incremental_format != "auto":
            return self.spec.source.incremental_format == "cdc"
        return self._asks_for_deletes and self.of(SRC).records_changes is not False

    @property
    def deletes_not_recorded(self) -> bool:
        """Say whether the source keeps no change data, so that no setting of the pipeline shows what it deletes."""
        return not self.deletes_pass_on and self.of(SRC).records_changes is False

    @property
    def deletes_assumed(self) -> bool:
        """Say whether the deletes are in the increment only if the source keeps change data, which nobody tells."""
        source = self.spec.source
        asks = not isinstance(source, RecordsSpec) and source.incremental_format == "auto" and self._asks_for_deletes
        return asks and self.of(SRC).records_changes is None

    @property
    def _asks_for_deletes(self) -> bool:
        return any(column.name == "_hoodie_is_deleted" for column in self.spec.target.columns)
