"""The verdicts on a project's pipelines: the DDLs and the files of cases say what the tables are. No JVM."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from freshet.cases.case import SOURCE
from freshet.cases.load import read_fixture
from freshet.cases.schemas import declared_tables
from freshet.hudi.table import StateReader
from freshet.problems import Problems
from freshet.project.model.pipeline import Project
from freshet.verdict.columns import SRC
from freshet.verdict.facts import TableFacts
from freshet.verdict.judged import judged
from freshet.verdict.result import Verdict
from freshet.verdict.tables import facts_of, moments_of


def verdicts_of(project: Project, overrides: Sequence[str], state: StateReader | None = None) -> dict[str, Verdict]:
    """Return the verdict on each pipeline of a project, by its name.

    Args:
        project: The selected pipelines.
        overrides: ``--set`` values.
        state: Reader of the tables; None leaves them alone, so that the files decide.
    """
    declared = declared_tables(project, overrides)
    found: dict[str, Verdict] = {}
    for spec in project.pipelines:
        # What is wrong with a file of cases is told by whoever runs them.
        fixture = read_fixture(Path(project.root), spec, Problems())
        told = {
            SRC if name == SOURCE else name.lower(): TableFacts(
                columns=tuple(column.name for column in shape.columns),
                record_key=shape.record_key,
                ordering=shape.ordering,
                moments=moments_of(shape.columns),
            )
            for name, shape in (fixture.tables if fixture else {}).items()
        }
        found[spec.name] = judged(spec, facts_of(spec, declared, told, state))
    return found
