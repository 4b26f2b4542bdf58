"""What a project says without any of its pipelines: where tables lie, how they are written, and who writes and reads which."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from freshet.errors import FreshetError, SpecError
from freshet.problems import Problems
from freshet.project.load import layers
from freshet.project.load.draft import Draft, neighbour
from freshet.project.load.lineage import co_writers_of
from freshet.project.load.loader import Loader
from freshet.project.model.paths import quarantine_of, same_place
from freshet.project.model.pipeline import TableRef
from freshet.project.model.readers import Reader
from freshet.project.rules.names import NamesKept
from freshet.project.rules.source import table_by_name
from freshet.project.shape.files import ConfigFile, PipelineFile, validate_settings
from freshet.project.syntax.ddl import Setting
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.project.syntax.yaml_nodes import MapNode

_CONFIG = "configs/base.yml"


@dataclass(frozen=True, kw_only=True)
class Warehouse:
    """A project's configs and the tables that its pipelines write and read.

    Args:
        root: Absolute path of the project.
        env: Name of the environment.
        roots: Normal root path of each database.
        hoodie: The configs' own settings of Hudi.
        spark_conf: Their ``spark.*`` settings.
        lease_wait_seconds: How long a writer waits for another one of the same table.
        lease_across_machines: See ``lease.choice.leases_for``.
        writers: Names of the pipelines that write a table or its quarantine, by its path as ``same_place`` gives it.
        readers: Pipelines that read a table incrementally, by the same.
        targets: Paths of the pipelines' tables and quarantines, by name: a DDL's LOCATION may put them anywhere.
    """

    root: str
    env: str
    roots: Mapping[str, str]
    hoodie: Mapping[str, Setting]
    spark_conf: Mapping[str, str]
    lease_wait_seconds: float
    lease_across_machines: bool | None
    writers: Mapping[str, tuple[str, ...]]
    readers: Mapping[str, tuple[Reader, ...]]
    targets: Mapping[str, str]

    def table(self, name: str) -> TableRef:
        """Return the table of a name.

        Args:
            name: ``database.table``.

        Raises:
            FreshetError: MISSING_DATABASE or UNKNOWN_DATABASE.
        """
        problems = Problems()
        found = table_by_name(name, Place("", 0), self.targets, self.roots, problems)
        if found is None:
            wrong = problems.found[0]
            raise FreshetError(wrong.code, wrong.message, "Nothing was read or written.", wrong.hint)
        return found


def load_warehouse(
    root: Path,
    env: str | None = None,
    overrides: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Warehouse:
    """Load a project's configs, and of its pipelines the tables that they name.

    Args:
        root: The project's folder.
        env: Environment, as for ``load_project``.
        overrides: ``key=value`` texts, the topmost layer.
        environ: What templates read as ``env.*``; the process's environment by default.

    Raises:
        SpecError: With every problem of the configs; what is wrong with a pipeline does not count.
        FreshetError: NOT_A_PROJECT.
    """
    folder = Path(os.path.realpath(root))
    if not any((folder / "configs" / f"base{ending}").is_file() for ending in (".yml", ".yaml")):
        raise FreshetError(
            "NOT_A_PROJECT",
            f"{folder} has no {_CONFIG}, which says where tables lie.",
            "Nothing was read or written.",
            "Name the project's folder by -C FOLDER, or scaffold one: freshet init FOLDER",
        )
    problems = Problems()
    loader = Loader(ProjectFiles(folder), dict(os.environ) if environ is None else environ, None, problems)
    env_name, configs = loader.configs(env)
    top = layers.override_layer(overrides, problems)
    base = loader.draft("", _CONFIG, layers.merge(*configs, top), problems)
    plain = {key: value for key, value in layers.plain_settings(base.tree).items() if key in ConfigFile.model_fields}
    settings = validate_settings({**plain, "ddl": "-", "transform": "-"}, problems, lambda path: base.place(*path))
    NamesKept(base.secrets, base.context, base.tree, loader.files, problems).check_settings()
    if problems.found or settings is None:
        raise SpecError(problems.found)
    drafts = _drafts(loader, configs, top)
    targets: dict[str, str] = {}
    writers: dict[str, list[str]] = {}
    readers: dict[str, list[Reader]] = {}
    for name, draft in drafts.items():
        for ref in (draft.target, quarantine_of(name, draft.target)) if draft.target is not None else ():
            targets.setdefault(ref.name, ref.path)
            writers.setdefault(same_place(ref.path), []).append(name)
    neighbours = [neighbour(one, folder, targets) for one in drafts.values()]
    co_writers = co_writers_of(neighbours)
    for one in neighbours:
        target = drafts[one.name].target
        if target is not None:
            for path in one.reads:
                readers.setdefault(path, []).append(Reader(one.name, target, co_writers[one.name]))
    return Warehouse(
        root=str(folder),
        env=env_name,
        roots=base.warehouse,
        hoodie=layers.text_settings(base.tree, "hoodie"),
        spark_conf=dict(settings.spark),
        lease_wait_seconds=settings.lease.wait_seconds,
        lease_across_machines=settings.lease.across_machines,
        writers={path: tuple(names) for path, names in writers.items()},
        readers={path: tuple(sorted(found, key=lambda r: r.name)) for path, found in readers.items()},
        targets=targets,
    )


def _drafts(loader: Loader, configs: Sequence[MapNode], top: MapNode) -> dict[str, Draft]:
    drafts = {}
    if not (loader.files.root / "pipelines").is_dir():
        return {}
    for name, file in loader.pipeline_files().items():
        problems = Problems()
        tree = loader.tree(file, problems)
        if tree is not None:
            merged = layers.merge(*configs, layers.check_layer(tree, PipelineFile, problems), top)
            drafts[name] = loader.draft(name, file, merged, problems)
    return drafts


def place_of(ref: TableRef) -> str:
    """Return the path by which ``Warehouse.writers`` and ``readers`` know a table."""
    return same_place(ref.path)
