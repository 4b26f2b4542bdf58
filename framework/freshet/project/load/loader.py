"""From the names of a project's files to its pipelines: configs, selection, drafts, lineage, specs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from freshet.problems import Problems, did_you_mean
from freshet.project.load import layers
from freshet.project.load.draft import Draft, draft, neighbour
from freshet.project.load.lineage import Neighbour, check_lineage, co_writers_of, in_order, upstream_of
from freshet.project.load.pipeline import build
from freshet.project.load.upstream import check_reads
from freshet.project.model.pipeline import Project
from freshet.project.model.readers import Reader
from freshet.project.rules.shares import check_tables, in_one_session, shares_of
from freshet.project.shape.files import ConfigFile, PipelineFile
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.project.syntax.template import TemplateContext
from freshet.project.syntax.yaml_nodes import MapNode
from freshet.project.syntax.yaml_text import parse_yaml
from freshet.secrets import REDACTOR, Redactor

DEFAULT_ENV = "local"
_ENV_NAME = _NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_YAML = (".yml", ".yaml")
_WINDOW_HINTS = dict.fromkeys(
    ("start", "end"), "It is defined during a backfill only: write '{% if start is defined %}' around it."
)


def _readers(
    name: str,
    neighbours: Sequence[Neighbour],
    drafts: Mapping[str, Draft],
    co_writers: Mapping[str, tuple[str, ...]],
) -> tuple[Reader, ...]:
    target = next(one.target for one in neighbours if one.name == name)
    return tuple(
        Reader(one.name, ref, co_writers[one.name])
        for one in neighbours
        if target and target in one.reads and one.name != name and (ref := drafts[one.name].target) is not None
    )


class Loader:
    """Reads what the layers, the pipelines and their neighbours say; problems are collected."""

    def __init__(
        self,
        files: ProjectFiles,
        environ: Mapping[str, str],
        window: tuple[str, str] | None,
        problems: Problems,
    ) -> None:
        self.files = files
        self.environ = environ
        self.names = dict(zip(("start", "end"), window, strict=True)) if window else {}
        self.problems = problems
        self.broken_config = False
        self.unread_tags = False

    def load(
        self,
        env: str | None,
        overrides: Sequence[str],
        names: Sequence[str],
        tags: Sequence[str],
    ) -> Project | None:
        found = self.pipeline_files()
        env_name, configs = self.configs(env)
        top = layers.override_layer(overrides, self.problems)
        trees, raw_tags = self._trees(found, set(names), bool(tags))
        selected = self._select(found, raw_tags, names, tags)
        drafts = {}
        for name, file in found.items():
            problems = self.problems if name in selected else Problems()
            # A selected one is read again even where its tags were looked at: now its problems count.
            tree = self.tree(file, problems) if name in selected else trees.get(name)
            if tree is not None:
                checked = layers.check_layer(tree, PipelineFile, problems)
                drafts[name] = self.draft(name, file, layers.merge(*configs, checked, top), problems)
        return self._project(env_name, drafts, selected)

    def _project(self, env: str, drafts: Mapping[str, Draft], selected: Sequence[str]) -> Project | None:
        targets: dict[str, str] = {}
        for one in drafts.values():
            if one.target is not None:
                targets.setdefault(one.target.name, one.target.path)
        neighbours = [neighbour(one, self.files.root, targets) for one in drafts.values()]
        check_lineage(neighbours, selected, self.problems)
        co_writers = co_writers_of(neighbours)
        shares = shares_of({name: (layers.text_settings(one.tree, "hoodie"), one.target) for name, one in drafts.items()})
        specs = {}
        for name in selected:
            if name in drafts:
                readers = _readers(name, neighbours, drafts, co_writers)
                spec = build(drafts[name], self.files, targets, co_writers[name], readers, shares, self.problems)
                if spec is not None:
                    specs[name] = spec
        check_tables(specs.values(), self.problems)
        check_reads(specs.values(), drafts, self.problems)
        upstream = upstream_of(neighbours)
        if self.problems.found:
            return None
        order = [name for name in in_order(upstream) if name in specs]
        return Project(
            str(self.files.root), env, in_one_session([specs[name] for name in order]), {name: upstream[name] for name in order}
        )

    def pipeline_files(self) -> dict[str, str]:
        if not (self.files.root / "pipelines").is_dir():
            self.problems.add(
                "pipelines",
                0,
                "NO_PIPELINES",
                f"There is no folder 'pipelines' in {self.files.root}.",
                "Change to the project's folder, or scaffold one: freshet init.",
            )
            return {}
        found: dict[str, str] = {}
        for file in self.files.names("pipelines", *_YAML):
            name = PurePosixPath(file).stem
            if not _NAME.fullmatch(name):
                self.problems.add(
                    file,
                    0,
                    "BAD_NAME",
                    f"'{name[:80]}' cannot be the name of a pipeline.",
                    "Use letters, digits, '_' and '-' in the file's name.",
                )
            elif name in found:
                self.problems.add(file, 0, "DUPLICATE_PIPELINE", f"'{found[name]}' has the same name.", "Rename one of them.")
            else:
                found[name] = file
        for file in self.files.names("pipelines", *(ending.upper() for ending in _YAML)):
            self.problems.add(file, 0, "BAD_NAME", "The ending of a pipeline's file is written small.", "Write '.yml'.")
        if not found and not self.problems.found:
            self.problems.add(
                "pipelines",
                0,
                "NO_PIPELINES",
                "The folder 'pipelines' holds no .yml file.",
                "Scaffold a pipeline: freshet init.",
            )
        return found

    def configs(self, env: str | None) -> tuple[str, list[MapNode]]:
        known = [PurePosixPath(name).stem for name in self.files.names("configs", *_YAML)]
        if env is None:
            env = DEFAULT_ENV if DEFAULT_ENV in known else "base"
        if not _ENV_NAME.fullmatch(env) or env not in {*known, "base"}:
            self.problems.add(
                f"configs/{env[:80]}.yml",
                0,
                "UNKNOWN_ENV",
                f"There is no environment '{env[:80]}'.",
                did_you_mean(env, [name for name in known if name != "base"]),
            )
            env = "base"
        trees = []
        for name in dict.fromkeys(("base", env)):
            file = next(
                (f"configs/{name}{ending}" for ending in _YAML if (self.files.root / f"configs/{name}{ending}").exists()),
                None,
            )
            tree = self.tree(file, self.problems) if file else None
            self.broken_config |= file is not None and tree is None
            if tree is not None:
                trees.append(layers.check_layer(tree, ConfigFile, self.problems))
        return env, trees or [MapNode({}, "configs/base.yml", 0)]

    def tree(self, file: str, problems: Problems) -> MapNode | None:
        text = self.files.read(file, Place(file, 0), "file", problems)
        return None if text is None else parse_yaml(text, file, problems)

    def _trees(self, found: Mapping[str, str], names: set[str], by_tag: bool) -> tuple[dict[str, MapNode], dict[str, set[str]]]:
        """Read the pipelines that lineage or tags need beside the named ones.

        Their problems do not count here, except where tags are asked for and a file's cannot be read.
        """
        trees: dict[str, MapNode] = {}
        tags: dict[str, set[str]] = {}
        everything = not names and not by_tag
        for name, file in found.items():
            if everything or name in names:
                continue
            problems = Problems()
            tree = self.tree(file, problems)
            if tree is None:
                if by_tag:
                    # Its tags are unknown, so it may be one of those asked for.
                    self.unread_tags = True
                    self.problems.found.extend(problems.found)
            else:
                trees[name] = tree
                given = layers.plain(tree.entries["tags"]) if "tags" in tree.entries else []
                tags[name] = set(map(str, given)) if isinstance(given, list) else {str(given)}
        return trees, tags

    def _select(
        self,
        found: Mapping[str, str],
        raw_tags: Mapping[str, set[str]],
        names: Sequence[str],
        tags: Sequence[str],
    ) -> list[str]:
        if not names and not tags:
            return list(found)
        for name in names:
            if name not in found:
                self.problems.add(
                    "pipelines", 0, "UNKNOWN_PIPELINE", f"There is no pipeline '{name[:80]}'.", did_you_mean(name, found)
                )
        for tag in tags:
            every = {t for given in raw_tags.values() for t in given}
            if tag not in every and not self.unread_tags:
                self.problems.add(
                    "pipelines", 0, "UNKNOWN_TAG", f"No pipeline has the tag '{tag[:80]}'.", did_you_mean(tag, every)
                )
        return [name for name in found if name in names or raw_tags.get(name, set()) & set(tags)]

    def draft(self, name: str, file: str, tree: MapNode, problems: Problems) -> Draft:
        secrets = Redactor()

        def on_secret(variable: str, value: str) -> None:
            REDACTOR.register(variable, value)
            secrets.register(variable, value)

        only_env = TemplateContext(
            var=None,
            env=self.environ,
            names=self.names,
            on_secret=on_secret,
            unknown_hints={
                **_WINDOW_HINTS,
                "var": "A variable may use env.* only, not another variable.",
            },
        )
        variables = layers.variables(tree, only_env, problems)
        context = TemplateContext(
            var=variables,
            env=self.environ,
            names=self.names,
            on_secret=on_secret,
            unknown_hints=_WINDOW_HINTS,
            origin=secrets.origin,
        )
        return draft(name, file, tree, context, variables, self.files, secrets, problems)
