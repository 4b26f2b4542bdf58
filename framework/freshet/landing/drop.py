"""Delete a table that files were landed in wrongly; never one that a pipeline or another program writes."""

from __future__ import annotations

from freshet.credentials import without_credentials
from freshet.errors import StateError
from freshet.events.bus import new_run_id
from freshet.events.event import Listener
from freshet.events.kinds import Phase
from freshet.hudi.checkpoint import ORIGIN_KEY, PIPELINE_KEY
from freshet.hudi.table import StateReader, TableState
from freshet.landing.plan import ORIGIN, bare_spec
from freshet.plan.retention import has_read
from freshet.project.load.warehouse import Warehouse, place_of
from freshet.project.model.pipeline import TableRef
from freshet.run.delete import delete_table
from freshet.run.write_session import write_session

_KEPT = "Nothing was deleted."


def drop(warehouse: Warehouse, name: str, state: StateReader, listen: Listener, sure: bool) -> TableRef:
    """Delete a landed table with all of its rows; the files that were landed stay.

    Args:
        warehouse: The project, see ``load_warehouse``.
        name: The table, ``database.table``.
        state: Reader of the tables.
        listen: Told what goes on.
        sure: Delete it though a pipeline's target holds rows of it.

    Raises:
        StateError: TABLE_MISSING, TABLE_OF_A_PIPELINE, TABLE_NOT_LANDED or TABLE_WAS_READ.
        RetryableError: ALREADY_RUNNING.
    """
    ref = warehouse.table(name)
    for writer in warehouse.writers.get(place_of(ref), ()):
        raise _of_a_pipeline(ref, writer)
    spec = bare_spec(warehouse, ref)
    with write_session(spec, listen, new_run_id(), what="landing", clears_lock=False) as session:
        table = state.table(ref)
        if table is None:
            raise StateError(
                "TABLE_MISSING", f"There is no table at {ref.path}.", _KEPT, "Look for its name: freshet status", path=ref.path
            )
        _refuse_foreign(ref, table)
        readers = [] if sure else sorted({one.name for one in spec.readers if has_read(one, state, ref)})
        if readers:
            raise StateError(
                "TABLE_WAS_READ",
                f"{ref.name}: {', '.join(readers)} has read it, and holds rows of it that no later read would delete.",
                _KEPT,
                f"To have them computed anew: freshet land {ref.name} --drop --yes, land the files, then "
                f"freshet run {' '.join(readers)} --full-refresh",
                pipelines=readers,
            )
        session.confirm()
        session.listen(Phase(pipeline=spec.name, message=f"deleting {ref.path}"))
        delete_table(ref.path, spec.spark_conf)
    return ref


def _refuse_foreign(ref: TableRef, table: TableState) -> None:
    for _, info in table.newest_first():
        if info.extra.get(ORIGIN_KEY) == ORIGIN:
            return
        if PIPELINE_KEY in info.extra:
            raise _of_a_pipeline(ref, without_credentials(info.extra[PIPELINE_KEY]))
    raise StateError(
        "TABLE_NOT_LANDED",
        f"{ref.name}: another program has made the table at {ref.path}.",
        _KEPT,
        "Delete it with what made it.",
        path=ref.path,
    )


def _of_a_pipeline(ref: TableRef, pipeline: str) -> StateError:
    return StateError(
        "TABLE_OF_A_PIPELINE",
        f"{ref.name} is written by the pipeline {pipeline}, and was not landed.",
        _KEPT,
        f"To compute its rows anew: freshet run {pipeline} --full-refresh",
        pipeline=pipeline,
    )
