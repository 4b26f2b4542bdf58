"""Whether the table at a quarantine's path is that pipeline's quarantine: rows must not come among another one's. Pure."""

from __future__ import annotations

from freshet.credentials import without_credentials
from freshet.errors import StateError
from freshet.hudi.checkpoint import PIPELINE_KEY
from freshet.hudi.table import TableState
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.quarantine.table import ID

#: What mends it, of a pipeline and its DDL file.
REMEDY = (
    "Move it away, where it is somebody else's. The quarantine lies beside the target, and is named by the pipeline: another "
    "LOCATION in {file}, or another name of the pipeline's file, puts it elsewhere."
)


def refuse_occupied(spec: PipelineSpec, found: TableState | None) -> None:
    """Refuse to use a table that is not the pipeline's quarantine.

    Args:
        spec: The pipeline.
        found: What stands at its quarantine's path; None for nothing.

    Raises:
        StateError: QUARANTINE_OCCUPIED.
    """
    why = foreign_words(spec.name, spec.quarantine, found)
    if why:
        raise StateError(
            "QUARANTINE_OCCUPIED",
            f"{spec.name}: the table at {spec.quarantine.path} is not its quarantine: {why}.",
            "Nothing was written, and the checkpoint stays.",
            REMEDY.format(file=spec.target.file),
            path=spec.quarantine.path,
        )


def foreign_words(pipeline: str, quarantine: TableRef, found: TableState | None) -> str:
    """Say why a table is not a pipeline's quarantine; empty where it is, or where there is none.

    Args:
        pipeline: The pipeline's name.
        quarantine: Its quarantine.
        found: What stands at that path.
    """
    if found is None:
        return ""
    if found.config.record_key != (ID,):
        return f"its record key is '{without_credentials(','.join(found.config.record_key))}', and not {ID}"
    named, name = found.config.properties.get("hoodie.table.name", ""), quarantine.name.rpartition(".")[2]
    # As Hudi compares them, which refuses to write a table under another name.
    if named and named.lower() != name.lower():
        return f"it is named '{without_credentials(named)}', and not '{name}'"
    makers = (found.info(instant).extra.get(PIPELINE_KEY, "") for instant in reversed(found.commits))
    maker = next(filter(None, makers), pipeline)
    return f"the pipeline {without_credentials(maker)} writes it" if maker != pipeline else ""
