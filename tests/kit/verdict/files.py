"""Drawn pipelines as files of a project."""

from __future__ import annotations

from collections.abc import Mapping

from tests.kit.lake import Lake
from tests.kit.project import ACCEPTS
from tests.kit.verdict.case import Case
from tests.kit.verdict.model import SRC

#: What is left of an exact pipeline to accept, where so many histories stand side by side that no day is ever empty.
EMPTIED = {"PARTITION_MAY_EMPTY"}


def write_files(lake: Lake, name: str, case: Case, tables: Mapping[str, str], *, mor: bool) -> None:
    """Write a drawn pipeline as a project has it; ``tables`` are the names of those that its tables are here."""
    types = {"_hoodie_is_deleted": "BOOLEAN", "at": "BIGINT NOT NULL"}
    key, partition = case.target.key, case.target.partition
    place = f" PARTITIONED BY ({', '.join(partition)})" if partition else ""
    codes = {one.code for one in case.verdict.findings}
    kept = "accepts: [{code: PARTITION_MAY_EMPTY, why: no day of so many histories is ever empty}]\n"
    top = [kept if codes == EMPTIED else ACCEPTS] if codes else []
    if write := case.head.get("write"):
        top.append(f"write: {{strategy: {write['strategy']}, columns: [{', '.join(write['columns'])}]}}\n")
    more = [("write.operation", case.spec.operation), ("query.incremental.format", case.head.get("format"))]
    columns = ", ".join(f"{c} {types.get(c, 'BIGINT NOT NULL' if c in key else 'BIGINT')}" for c in case.target.columns)
    lake.write_file(f"transformers/{name}.sql", case.text)
    lake.write_file(
        f"ddl/{name}.sql",
        f"CREATE TABLE derived.{name} ({columns})\nUSING hudi{place}\n"
        f"TBLPROPERTIES (primaryKey = '{','.join(key)}', preCombineField = 'at', type = '{'mor' if mor else 'cow'}')\n",
    )
    inputs = []
    for one in case.spec.inputs:
        told = [f"table: {tables[case.table_of(one.name)]}", f"read: {one.read}"]
        told += [f"drives: {{{', '.join(f'{c}: {x}' for c, x in one.drives)}}}"] if one.drives else []
        told += [f"on: {{{', '.join(f'{c}: [{chr(44).join(x)}]' for c, x in one.on)}}}"] if one.on else []
        told += ["as_of: checkpoint"] if one.as_of == "checkpoint" else []
        told += ["lookback: 1s"] if one.read == "incremental" and not one.drives else []
        inputs.append(f"  {one.name}: {{{', '.join(told)}}}\n")
    lake.write_file(
        f"pipelines/{name}.yml",
        f"ddl: ddl/{name}.sql\ntransform: transformers/{name}.sql\n{'inputs:' if inputs else ''}\n{''.join(inputs + top)}"
        f'hoodie:\n  hoodie.streamer.source.hoodieincr.path: "{lake.path(tables[SRC])}"\n'
        "  hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy: READ_UPTO_LATEST_COMMIT\n"
        + "".join(f"  hoodie.datasource.{key}: {value}\n" for key, value in more if value),
    )
