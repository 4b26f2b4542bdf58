"""A project's DAGs, of what ``freshet dag --output json`` says."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Asset, AssetAny, Param

from freshet.airflow.groups import Group, Pipeline, groups_of
from freshet.airflow.operator import FreshetOperator

#: The newest version of the document that this module reads.
_VERSION = 2
_SECONDS = 60
# A run that is over its own limit ends itself; Airflow's limit is for one that cannot.
_MARGIN = timedelta(minutes=5)


def make_dags(
    project_dir: str,
    *,
    env: str = "",
    name: str = "",
    freshet: Sequence[str] = ("freshet",),
    document: str = "",
    start_date: datetime = datetime(2026, 1, 1, tzinfo=timezone.utc),
    retries: int = 3,
    retry_delay: timedelta = timedelta(minutes=1),
    pool: Callable[[Pipeline], str] | str = "",
    variables: Mapping[str, str] | None = None,
) -> dict[str, DAG]:
    """Return a project's DAGs by their ids; ``globals().update(make_dags(...))`` shows them to Airflow.

    Pipelines of one schedule are one DAG, a task for each, upstream before downstream. A pipeline without a schedule follows
    its upstream. Every task announces its target as an asset, ``freshet://<env>/<table>``. Where pipelines declare a backfill
    there is a DAG ``<name>__backfill``, started by hand with a pipeline and two dates.

    Args:
        project_dir: The project's folder, as the workers see it.
        env: The environment; empty for the project's default.
        name: What the ids begin with; empty for the folder's name.
        freshet: The program's words; a path where another environment has freshet.
        document: A file that ``freshet dag --output json`` wrote, such as by the deployment; empty to ask each time that the
            file is parsed.
        start_date: See Airflow.
        retries, retry_delay: Further attempts where one can help: another run was first, a store did not answer.
        pool: The pool of each task, or what gives one's; empty for Airflow's default. A pool has to be there.
        variables: Added to the environment of each process.

    Raises:
        RuntimeError: The project is invalid, a schedule has another time zone than UTC, or its document is of a newer freshet.
    """
    found = _described(project_dir, env, freshet, document)
    project = name or Path(project_dir).resolve().name
    common: dict[str, Any] = {
        "project_dir": project_dir,
        "env": env,
        "freshet": freshet,
        "repeat_on": found["repeat_on"],
        "variables": variables,
        "retries": retries,
        "retry_delay": retry_delay,
    }
    dags = {}
    for group in groups_of(project, found["pipelines"]):
        dags[group.name] = _dag(group, found["env"], start_date, common, pool)
    again = [one["name"] for one in found["pipelines"] if one["backfill"]]
    if again:
        dags[f"{project}__backfill"] = _backfill(f"{project}__backfill", again, start_date, common)
    return dags


def _described(project_dir: str, env: str, freshet: Sequence[str], document: str) -> dict[str, Any]:
    if document:
        found: dict[str, Any] = json.loads(Path(document).read_text("utf-8"))
    else:
        command = [*freshet, "dag", "--project", project_dir, "--output", "json", *(("--env", env) if env else ())]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
        found = json.loads(done.stdout)
    if found["version"] > _VERSION:
        raise RuntimeError(
            f"the project's freshet writes version {found['version']} of its DAG, and this reads {_VERSION}: upgrade."
        )
    return found


def _dag(group: Group, env: str, start_date: datetime, common: Mapping[str, Any], pool: Callable[[Pipeline], str] | str) -> DAG:
    # Any of them: what is new in one table is a reason to run, whatever the others have.
    schedule: Any = group.schedule or (AssetAny(*(_asset(env, table) for table in group.after)) if group.after else None)
    dag = DAG(
        group.name,
        schedule=schedule,
        start_date=start_date,
        catchup=False,
        # A run reads all that is new: a second one beside it would find the lease taken.
        max_active_runs=1,
        tags=["freshet", *dict.fromkeys(tag for one in group.pipelines for tag in one["tags"])],
        description=f"freshet: {', '.join(one['name'] for one in group.pipelines)}"[:250],
    )
    tasks = {}
    for one in group.pipelines:
        limit = one["timeout_seconds"]
        where = pool(one) if callable(pool) else pool
        tasks[one["name"]] = FreshetOperator(
            task_id=one["name"],
            dag=dag,
            arguments=one["command"],
            owner=one["owner"] or "freshet",
            doc_md=one["description"] or None,
            outlets=[_asset(env, one["target"])],
            execution_timeout=timedelta(seconds=limit) + _MARGIN if limit else None,
            pool=where or "default_pool",
            **common,
        )
        for name in one["upstream"]:
            if name in tasks:
                tasks[name] >> tasks[one["name"]]
    return dag


def _backfill(name: str, pipelines: Sequence[str], start_date: datetime, common: Mapping[str, Any]) -> DAG:
    day: dict[str, Any] = {"type": "string", "format": "date"}
    dag = DAG(
        name,
        schedule=None,
        start_date=start_date,
        catchup=False,
        tags=["freshet", "backfill"],
        description="freshet: compute a range of dates again, beside the live runs",
        params={
            "pipeline": Param(pipelines[0], enum=list(pipelines)),
            "start": Param(str(start_date.date()), description="first day", **day),
            "end": Param(str(start_date.date()), description="last day", **day),
        },
    )
    FreshetOperator(
        **common,
        task_id="backfill",
        dag=dag,
        arguments=["backfill", "{{ params.pipeline }}", "--start", "{{ params.start }}", "--end", "{{ params.end }}"],
    )
    return dag


def _asset(env: str, table: str) -> Asset:
    return Asset(f"freshet://{env or 'default'}/{table}")
