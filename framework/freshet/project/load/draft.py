"""The draft of a pipeline: its settings merged and rendered, its tables known by name and path, nothing checked yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from freshet.hudi.keys import options
from freshet.problems import Problems
from freshet.project.load import layers
from freshet.project.load.lineage import Neighbour
from freshet.project.model import logic
from freshet.project.model.paths import normal_path, same_place
from freshet.project.model.pipeline import TableRef
from freshet.project.rules import source
from freshet.project.syntax.ddl import DdlTable, ddl_header
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.project.syntax.template import TemplateContext, render
from freshet.project.syntax.yaml_nodes import ListNode, MapNode, ScalarNode
from freshet.secrets import Redactor


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A pipeline whose settings are merged and rendered, and whose tables are known by name and path.

    Args:
        name: The pipeline.
        file: Its YAML.
        tree: Merged, rendered settings.
        context: What its SQL may see.
        warehouse: Normal root path of each database.
        ddl_text: The DDL, rendered; None where it cannot be read.
        target: The table written; None where it is not known.
        secrets: The secrets that its own files read.
        windowed: Texts of settings that a backfill renders otherwise.
    """

    name: str
    file: str
    tree: MapNode
    context: TemplateContext
    warehouse: Mapping[str, str]
    ddl_text: str | None
    target: TableRef | None
    secrets: Redactor
    windowed: tuple[str, ...]

    def place(self, *path: str) -> Place:
        """Return the place of a path of keys in the pipeline's merged settings."""
        return layers.place_in(self.tree, self.file, path)


def draft(
    name: str,
    file: str,
    tree: MapNode,
    context: TemplateContext,
    variables: Mapping[str, object],
    files: ProjectFiles,
    secrets: Redactor,
    problems: Problems,
) -> Draft:
    """Render a pipeline's settings and find the table it writes.

    Args:
        name: The pipeline.
        file: Its YAML.
        tree: Merged settings, ``vars`` among them.
        context: What settings may see.
        variables: The values of ``vars``.
        files: The project's files.
        secrets: Collects what the context's ``env`` gives away.
        problems: Receives what is wrong.
    """
    rendered = MapNode(
        {key: node if key == "vars" else layers.render_node(node, context, problems) for key, node in tree.entries.items()},
        tree.file,
        tree.line,
    )
    warehouse = _unreadable_databases(tree, files.root) | {
        database: normal_path(setting.value, files.root)
        for database, setting in layers.text_settings(rendered, "warehouse").items()
        if setting.value.strip()
    }
    sql = TemplateContext(
        var=variables,
        env=None,
        names=context.names,
        on_secret=context.on_secret,
        unknown_hints={
            **context.unknown_hints,
            "env": "SQL is printed by plan, so it cannot read env.*: read it in 'vars:' and use var.*.",
        },
        origin=context.origin,
    )
    ddl_text = None
    named = rendered.entries.get("ddl")
    if isinstance(named, ScalarNode) and isinstance(named.value, str) and named.value:
        raw = files.read(named.value, Place(named.file, named.line), "DDL file", problems)
        ddl_text = None if raw is None else render(raw, sql, named.value, 1, problems)
    header = ddl_header(ddl_text) if ddl_text is not None else None
    ref = None
    if header is not None:
        table, location = header
        database, _, short = table.rpartition(".")
        root = warehouse.get(database)
        path = normal_path(location, files.root) if location else f"{root}/{short}" if root else ""
        ref = TableRef(table, path) if path else None
    return Draft(
        name=name,
        file=file,
        tree=rendered,
        context=sql,
        warehouse=warehouse,
        ddl_text=ddl_text,
        target=ref,
        secrets=secrets,
        windowed=tuple(sorted(set(logic.windowed(tree)))),
    )


def _unreadable_databases(tree: MapNode, root: Path) -> dict[str, str]:
    """Return a place for each database whose own cannot be read, which is a problem of its own: whoever names it makes none."""
    node = tree.entries.get("warehouse")
    entries = node.entries if isinstance(node, MapNode) else {}
    # An empty text is no mistake that anybody else reports.
    wrong = (name for name, one in entries.items() if not isinstance(one, ScalarNode) or one.value is None or one.text.strip())
    return {name: f"{root}/{name}" for name in wrong}


def neighbour(draft: Draft, root: Path, targets: Mapping[str, str]) -> Neighbour:
    """Say what lineage needs of a draft, as far as it is known.

    Args:
        draft: The draft.
        root: The project's folder.
        targets: Paths of the project's own tables, by name.
    """
    settings = layers.text_settings(draft.tree, "hoodie")
    reads = {source.source_path(settings, root)}
    inputs = draft.tree.entries.get("inputs")
    for entry in inputs.entries.values() if isinstance(inputs, MapNode) else ():
        table = entry.entries.get("table") if isinstance(entry, MapNode) else None
        if isinstance(table, ScalarNode):
            found = source.table_by_name(table.text, Place("", 0), targets, draft.warehouse, Problems())
            reads.add(found.path if found else None)
    setting = settings.get(options.SOURCE_PATH)
    place = Place(setting.file, setting.line) if setting and setting.file == draft.file else Place(draft.file, 1)
    target_path = same_place(draft.target.path) if draft.target else ""
    others = frozenset(same_place(path) for path in reads if path)
    main = source.source_path(settings, root)
    # A join with the target as it stands is no circle; reading one's own changes is.
    return Neighbour(
        name=draft.name,
        place=place,
        target=target_path,
        reads=others if main and same_place(main) == target_path else others - {target_path},
        owns=_owned(draft.tree),
    )


def _owned(tree: MapNode) -> frozenset[str] | None:
    write = tree.entries.get("write")
    columns = write.entries.get("columns") if isinstance(write, MapNode) else None
    if not isinstance(columns, ListNode):
        return None
    return frozenset(item.text.lower() for item in columns.items if isinstance(item, ScalarNode))


def ddl_file(tree: MapNode) -> str:
    """Return the name of the DDL file that a pipeline's settings give."""
    node = tree.entries["ddl"]
    return node.text if isinstance(node, ScalarNode) else ""


def target_of(ddl: DdlTable, draft: Draft, root: Path, problems: Problems) -> TableRef | None:
    """Return where a pipeline's target lies; None where nobody says, which is reported.

    Args:
        ddl: Its DDL.
        draft: The pipeline.
        root: The project's folder.
        problems: Receives BAD_VALUE, or what ``table_by_name`` says.
    """
    if ddl.location is not None:
        if not ddl.location.value.strip():
            problems.add(
                ddl.file,
                ddl.location.line,
                "BAD_VALUE",
                "LOCATION is empty.",
                "Write the table's base path, or remove it.",
            )
            return None
        return TableRef(ddl.name, normal_path(ddl.location.value, root))
    return source.table_by_name(ddl.name, Place(ddl.file, ddl.line), {}, draft.warehouse, problems)


def named_files(tree: MapNode) -> list[tuple[str, Place]]:
    """Return the files of a pipeline's chain, each with the place that names it."""
    node = tree.entries.get("transform")
    items = node.items if isinstance(node, ListNode) else (node,)
    return [
        (item.value, Place(item.file, item.line))
        for item in items
        if isinstance(item, ScalarNode) and isinstance(item.value, str) and item.value
    ]
