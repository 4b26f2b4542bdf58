"""Land the project's seeds: each file is all that its table holds, and one that is unchanged starts no Spark."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from freshet.errors import DataError, FreshetError, unforeseen
from freshet.events.event import Listener
from freshet.events.kinds import Failed, Idle
from freshet.hudi.kept_texts import LANDED_KEY
from freshet.hudi.table import StateReader
from freshet.jvm.java_end import java_ended
from freshet.landing.outcome import Landed, Landing
from freshet.landing.plan import GENERATED, UNTOUCHED, bare_spec
from freshet.landing.seeds import Seed
from freshet.project.load.warehouse import Warehouse

_DIGEST = "digest"


def land_seeds(
    warehouse: Warehouse,
    seeds: Sequence[Seed],
    state: StateReader,
    listen: Listener,
    wait_seconds: float | None = None,
) -> list[Landed | FreshetError]:
    """Land seeds, one after the other; one that fails does not keep the others from being landed.

    Args:
        warehouse: The project.
        seeds: The seeds.
        state: Reader of the tables.
        listen: Told what goes on.
        wait_seconds: How long to wait for another writer of a table; None for what the project says.

    Returns:
        What became of each, in their order: a result, or why it failed.
    """
    results: list[Landed | FreshetError] = []
    for seed in seeds:
        try:
            results.append(_land(warehouse, seed, state, listen, wait_seconds))
        except Exception as unknown:  # whatever one seed fails by
            error = java_ended(unknown, seed.table) or unforeseen(unknown, seed.table)
            listen(Failed(pipeline=seed.table, message=str(error), error=error.as_json()))
            results.append(error)
    return results


def _land(
    warehouse: Warehouse,
    seed: Seed,
    state: StateReader,
    listen: Listener,
    wait_seconds: float | None,
) -> Landed:
    ref = bare_spec(warehouse, warehouse.table(seed.table)).target.ref
    path = Path(warehouse.root) / seed.file
    try:
        digest = digest_of(seed, path)
    except OSError as error:
        raise DataError(
            "FILE_UNREADABLE",
            f"{seed.file} cannot be read: {error.strerror or error}.",
            UNTOUCHED,
            "Give this user the right to read it, or write it anew.",
            file=str(path),
        ) from error
    table = state.table(ref)
    newest = table.info(table.data_commits[-1]).extra if table is not None and table.data_commits else {}
    if json.loads(newest.get(LANDED_KEY, "{}")).get(_DIGEST) == digest:
        listen(Idle(pipeline=seed.table, message="nothing to do: the file is as it was when it was landed"))
        return Landed(table=ref.name, path=ref.path, outcome="idle", files=(str(path),))
    # A second of imports, and Spark behind it.
    from freshet.landing.run import land

    said = seed.declared
    landing = Landing(
        table=seed.table,
        files=(str(path),),
        key=tuple(said.key),
        ordering=said.ordering or GENERATED,
        partition_by=tuple(said.partition_by),
        columns=seed.columns,
        delimiter=said.delimiter,
        table_type=said.type,
        whole=True,
        generated=said.ordering is None,
        remember={_DIGEST: digest},
    )
    return land(warehouse, landing, state, listen, wait_seconds)


def digest_of(seed: Seed, path: Path) -> str:
    """Return by what a seed is known that has not changed: its rows' file, and what is said of it."""
    found = hashlib.sha256(seed.declared.model_dump_json().encode())
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            found.update(part)
    return found.hexdigest()
