"""How OpenLineage names the tables and topics of a pipeline, and what columns they have.

The names follow OpenLineage's own rules, so that other tools that read or write the same data name it alike:
https://openlineage.io/docs/spec/naming
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freshet.errors import FreshetError
from freshet.hudi.kept_texts import columns_in
from freshet.hudi.table import StateReader
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.project.model.records import RecordsSpec
from freshet.types.columns import Column
from freshet.verdict.columns import SRC

# Of object stores a path is a key, which begins with no slash.
_BY_KEY = ("s3", "gs")


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A table or a topic.

    Args:
        namespace, name: As OpenLineage names it.
        table: ``database.table``; empty where the project has no such name for it.
        columns: Its columns; empty where nobody says.
    """

    namespace: str
    name: str
    table: str = ""
    columns: tuple[Column, ...] = ()


def of_path(path: str) -> tuple[str, str]:
    """Return the namespace and the name of what lies at a normal path."""
    scheme, found, rest = same_place(path).partition("://")
    if not found:
        return "file", path
    authority, _, inner = rest.partition("/")
    # Who asks is no part of where it is.
    host = authority.rpartition("@")[2] if not scheme.startswith(("abfs", "wasb")) else authority
    return f"{scheme}://{host}", inner if scheme in _BY_KEY else f"/{inner}"


def of_table(ref: TableRef, columns: tuple[Column, ...] = ()) -> Dataset:
    """Return a table as a dataset."""
    namespace, name = of_path(ref.path)
    return Dataset(namespace=namespace, name=name, table="" if ref.name == ref.path else ref.name, columns=columns)


def inputs_of(spec: PipelineSpec, state: StateReader) -> dict[str, tuple[Dataset, ...]]:
    """Return what a pipeline reads, by the names that its SQL has for it, lower case; ``src`` is the main source.

    Args:
        spec: The pipeline.
        state: Reader of the tables, which tell their columns.
    """
    main = spec.source
    found = {SRC: tuple(_records(main)) if isinstance(main, RecordsSpec) else (_known(main.table, state),)}
    for one in spec.inputs:
        found[one.name.lower()] = (_known(one.table, state),)
    return found


def _records(spec: RecordsSpec) -> Iterator[Dataset]:
    if not isinstance(spec, KafkaSpec):
        yield of_table(spec.table, spec.row_columns)
        return
    namespace = f"kafka://{spec.servers.split(',')[0].strip()}"
    for topic in spec.topics or (spec.pattern,):
        yield Dataset(namespace=namespace, name=topic, columns=spec.row_columns)


def _known(ref: TableRef, state: StateReader) -> Dataset:
    try:
        table = state.table(ref)
        schema = table.latest_extra("schema") if table else None
        return of_table(ref, columns_in(ref, schema) if schema else ())
    except FreshetError:
        # What is wrong with a table is told by whoever reads it.
        return of_table(ref)
