"""Airflow's DAGs of a project: ``make_dags`` in a file of Airflow's ``dags`` folder.

Airflow is no part of freshet. These modules import nothing else of freshet: ``pip install --no-deps freshet`` is enough in
Airflow's environment, and the pipelines run by the command ``freshet`` of another one.
Written for Airflow 3 (``airflow.sdk``), https://airflow.apache.org/docs/task-sdk/stable/api.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freshet.airflow.dags import make_dags as make_dags
    from freshet.airflow.operator import FreshetOperator as FreshetOperator

__all__ = ["FreshetOperator", "make_dags"]


def __getattr__(name: str) -> object:
    # At the first use, so that the package can be imported, and looked at, where there is no Airflow.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from freshet.airflow import dags, operator
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "airflow":
            raise
        raise ImportError(
            f"{name} needs Airflow 3 in this environment: pip install 'apache-airflow>=3'", name="airflow"
        ) from error
    return dags.make_dags if name == "make_dags" else operator.FreshetOperator
