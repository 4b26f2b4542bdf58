"""What DESIGN promises about the code itself: imports point one way, no Spark where none is needed, small modules."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from freshet.cli.main import main
from freshet.project.load.project import load_project
from tests.kit.project import a_project
from tests.kit.timeline import a_table, a_target

REPOSITORY = Path(__file__).parents[2]
FRAMEWORK = REPOSITORY / "framework" / "freshet"
MODULES = sorted(FRAMEWORK.rglob("*.py"))

# From the bottom up. A module belongs to the longest name that it starts with, and imports from its own room or from a
# layer below: rooms of one layer know nothing of each other. docs/architecture.md says what each room is for.
LAYERS = (
    # Airflow's part is installed without what freshet needs.
    ("errors", "secrets", "credentials", "cache", "types", "airflow"),
    ("problems", "events", "remembered"),
    ("hudi.keys", "changelog", "registry", "databases"),
    ("project",),
    ("storage",),
    ("sources.position",),
    ("sources.hudi.position", "sources.kafka.position", "sources.files.position"),
    ("sources.encodings",),
    ("hudi",),
    ("backfill.record", "sources.hudi.reads", "event_times"),
    ("sources.protocol", "sources.kafka.reads", "sources.files.reads"),
    ("sources.hudi.look", "sources.kafka.look", "sources.files.look", "quarantine.table"),
    ("quarantine.identity", "sources.kafka.client"),
    ("sources.hudi.history", "sources.hudi.source", "sources.kafka.source", "sources.files.source"),
    ("sources.hudi.input",),
    ("sources.registry",),
    ("verdict",),
    ("plan",),
    ("sources", "transform", "quality", "index.classes", "index.protocol"),
    ("index.hbase", "sources.unreadable"),
    ("sources.kafka.read", "sources.files.read"),
    ("sources.readers", "sources.changelog", "sinks", "backfill.read", "quarantine.read"),
    ("quarantine.write",),
    ("jvm",),
    ("lease",),
    ("status", "account"),
    ("run", "index.ops", "quarantine"),
    ("metrics",),
    ("lineage",),
    ("backfill",),
    ("landing", "connect"),
    ("migration", "cases", "dev", "ingest"),
    ("audit",),
    ("site",),
    ("serve",),
    ("api", "cli"),
)
# Their imports would cross a layer in good order: none is imported by a run.
TOOLS = ("__main__", "jvm.submitted.main", "hudi.keys.generate", "jvm.class_data_training")
# Work on an index is a run, and a run keeps dropped rows apart, which is a run itself.
SIBLINGS = {("index.ops", "run"), ("run", "quarantine"), ("quarantine", "run")}
#: Imported by their names alone, where a pipeline has what they are for.
APART = (
    "index.hbase",
    "index.ops",
    "cases",
    "dev",
    "audit",
    "migration",
    "landing",
    "site",
    "serve",
    "databases",
    "ingest",
    "connect",
)
NO_SPARK = (
    "errors",
    "secrets",
    "credentials",
    "cache",
    "problems",
    "remembered",
    "types",
    "events",
    "changelog.adapter",
    "changelog.canal",
    "changelog.conform",
    "changelog.counts",
    "changelog.debezium",
    "changelog.declared",
    "changelog.fields",
    "changelog.layout",
    "changelog.maxwell",
    "changelog.merge_sql",
    "changelog.ordered",
    "changelog.plain",
    "changelog.producers",
    "changelog.reference",
    "changelog.sql",
    "changelog.values",
    "registry",
    "project",
    "verdict",
    "storage",
    "hudi",
    "event_times",
    "sources.encodings",
    "sources.position",
    "sources.files.look",
    "sources.files.position",
    "sources.files.reads",
    "sources.files.source",
    "sources.protocol",
    "sources.registry",
    "sources.hudi.history",
    "sources.hudi.input",
    "sources.hudi.look",
    "sources.hudi.position",
    "sources.hudi.reads",
    "sources.hudi.source",
    "sources.kafka.client",
    "sources.kafka.look",
    "sources.kafka.position",
    "sources.kafka.reads",
    "sources.kafka.source",
    "plan",
    "lease",
    "status",
    "metrics",
    "lineage",
    "account",
    "site",
    "api",
    "cli",
    "connect",
    "databases",
    "dev",
    "ingest",
    "audit.bounds",
    "audit.causes",
    "audit.kept",
    "audit.left_out",
    "audit.mending",
    "audit.plan",
    "audit.request",
    "audit.result",
    "audit.run",
    "audit.sample",
    "audit.scope",
    "audit.versions",
    "backfill.alone",
    "backfill.chunks",
    "backfill.made_by",
    "backfill.plan",
    "backfill.preview",
    "backfill.record",
    "jvm.ivy",
    "jvm.jars",
    "jvm.java",
    "landing.plan",
    "landing.seeds",
    "landing.standing",
    "migration.differences",
    "migration.plan",
    "quarantine.identity",
    "quarantine.peek",
    "quarantine.table",
    "run.checks_history",
    "run.cost",
    "run.history",
    "run.last_runs",
    "run.plans",
    "run.record_files",
    "run.records",
    "run.result",
    "run.runner",
    "run.services_due",
    "run.totals",
    "run.write_session",
    "serve",
)
#: What people read; commands and links in it are held.
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "docs/reference/*.md",
    "docs/tutorials/*.md",
    "docs/guides/*.md",
    "docs/concepts/*.md",
)
HEAVY = ("pyspark", "py4j", "pandas", "great_expectations")
#: What a tick that finds nothing new never imports: a scheduler starts one each minute, and most of its time goes into imports.
NOT_IN_A_TICK = (
    *HEAVY,
    *("sqlglot", "jinja2", "rich", "pyarrow", "confluent_kafka", "openlineage", "obstore"),
    *(
        f"freshet.{room}"
        for room in (
            *APART,
            "account",
            "airflow",
            "api",
            "backfill.plan",
            "changelog.frames",
            "changelog.producers",
            "cli.plan",
            "lineage.document",
            "metrics.measured",
            "metrics.registry",
            "plan.describe",
            "plan.estimate",
            "quality",
            "quarantine.read",
            "quarantine.write",
            "registry.client",
            "run.executor",
            "run.plans",
            "sinks",
            "sources.hudi.read",
            "sources.kafka.client",
            "sources.kafka.read",
            "status",
            "transform",
            "verdict",
        )
    ),
)
# Longer ones: grammars (DDL, YAML), the model and the target's rules are one thing each, and are read as a whole.
MOST_LINES = 250
LONGER: dict[str, int] = {
    "backfill/plan.py": 300,
    "backfill/run.py": 308,
    "index/hbase/opening.py": 282,
    "jvm/jars.py": 257,
    "project/load/pipeline.py": 258,
    "project/syntax/template_sandbox.py": 260,
    "quarantine/table.py": 254,
    "run/runner.py": 273,
    "secrets.py": 260,
    "sources/hudi/reads.py": 255,
    "sources/protocol.py": 274,
    "verdict/publish.py": 252,
}


def _name(path: Path) -> str:
    parts = path.relative_to(FRAMEWORK).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _room(name: str) -> tuple[int, str] | None:
    """Return the layer and the room of a module."""
    found = [
        (len(head), number, head)
        for number, layer in enumerate(LAYERS)
        for head in layer
        if name == head or name.startswith(f"{head}.")
    ]
    return max(found)[1:] if found else None


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def _imports(path: Path) -> tuple[tuple[str, bool], ...]:
    """Return what a module imports, each with whether it does so at module level."""
    return tuple(_walk(_tree(path), True))


def _walk(node: ast.AST, at_top: bool) -> Iterator[tuple[str, bool]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.Import(names=names):
                yield from ((alias.name, at_top) for alias in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                # `from freshet.hudi import options` names a module, `from freshet.errors import Exit` none.
                folder = FRAMEWORK.parent / module.replace(".", "/")
                below = [f"{module}.{alias.name}" for alias in names if (folder / f"{alias.name}.py").is_file()]
                yield from ((name, at_top) for name in below or [module])
            case ast.ImportFrom():
                yield "relative", at_top
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _walk(child, False)
            case _:
                yield from _walk(child, at_top)


def test_every_module_has_a_layer() -> None:
    homeless = [_name(p) for p in MODULES if _room(_name(p)) is None and p.stat().st_size and _name(p) not in TOOLS]
    assert homeless == [""], "only the package itself, which holds the version"


def _faults_of_imports(path: Path) -> Iterator[str]:
    name = _name(path)
    mine = _room(name)
    if name in TOOLS or mine is None:
        return
    for imported, _ in _imports(path):
        if imported == "relative":
            yield f"{name}: imports are absolute"
        target = imported.removeprefix("freshet.")
        if target in (imported, "freshet") or imported == "freshet":
            continue
        theirs = _room(target)
        if theirs is None or theirs[0] > mine[0]:
            yield f"{name} imports {target}, which stands above it"
        elif theirs[0] == mine[0] and theirs[1] != mine[1] and (mine[1], theirs[1]) not in SIBLINGS:
            yield f"{name} imports {target}, which stands beside it"


def test_imports_point_downwards() -> None:
    assert [fault for path in MODULES for fault in _faults_of_imports(path)] == []


def test_what_stands_apart_is_imported_by_its_name_alone() -> None:
    """A run without an HBASE index, cases of users or dev servers pays for none of them."""
    core = (
        "project",
        "plan",
        "sources",
        "transform",
        "quality",
        "sinks",
        "jvm",
        "lease",
        "status",
        "run",
        "quarantine",
        "hudi",
    )
    faults = [
        f"{_name(path)} imports {imported}"
        for path in MODULES
        if _name(path).startswith(core) and _name(path) not in TOOLS
        for imported, _ in _imports(path)
        if imported.startswith(tuple(f"freshet.{room}" for room in APART))
    ]
    assert faults == []


def test_tests_and_tools_import_modules_that_are_there() -> None:
    """Also what no run of the tests imports, such as makers of fixtures, and programs that tests hold as texts."""
    files = [path for folder in ("tests", "docs") for path in (REPOSITORY / folder).rglob("*.py")]
    named = {
        (path.name, name)
        for path in files
        for name in re.findall(r"(?:from|import) (freshet(?:\.\w+)+)", path.read_text("utf-8"))
    }
    there = {path.with_suffix("") for path in MODULES} | {path.parent for path in MODULES}
    assert len(named) > 100
    assert [one for one in sorted(named) if FRAMEWORK.parent / one[1].replace(".", "/") not in there] == []


def test_suites_do_not_import_one_another() -> None:
    """What two of them need is in ``tests/kit``, which imports none of them."""
    tests = REPOSITORY / "tests"
    modules = [(path.relative_to(tests).parts[0], path) for path in tests.rglob("*.py")]
    suites = {folder for folder, path in modules if path.name.startswith("test_")}
    assert {"unit", "integration", "checks"} <= suites
    faults = [
        f"{path.relative_to(REPOSITORY)} imports tests.{name}"
        for folder, path in modules
        for name in re.findall(r"^(?:from|import) tests\.(\w+)", path.read_text("utf-8"), re.MULTILINE)
        if name in suites - {folder}
    ]
    assert faults == []


def test_no_spark_where_none_is_needed() -> None:
    jvmless = [path for path in MODULES if _name(path).startswith(NO_SPARK) and _name(path) not in TOOLS]
    loaded = {_name(path): {i.partition(".")[0] for i, at_top in _imports(path) if at_top} & set(HEAVY) for path in jvmless}
    assert {name: heavy for name, heavy in loaded.items() if heavy} == {}


def test_a_tick_without_news_imports_what_it_needs(tmp_path: Path) -> None:
    """And no collection looks through that again, as the one at Python's end would."""
    project = a_project(tmp_path, "payments")
    a_table(tmp_path, "raw/events", 10)
    a_target(tmp_path, (20, 10))
    # Whoever reads a DDL first parses it.
    load_project(project, None, (), names=(), tags=(), environ={})
    told = "atexit.register(lambda: print(json.dumps([gc.get_freeze_count(), *sys.modules]), file=sys.stderr))"
    code = f"import atexit, gc, json, runpy, sys; {told}; runpy.run_module('freshet', run_name='__main__', alter_sys=True)"
    words = (sys.executable, "-c", code, "run", "payments", "-C", str(project))
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("payments: nothing to do"), done.stdout
    frozen, *loaded = json.loads(done.stderr.splitlines()[-1])
    unneeded = tuple(re.escape(name) for name in NOT_IN_A_TICK)
    assert [name for name in loaded if re.fullmatch(rf"(?:{'|'.join(unneeded)})(?:\..*)?", name)] == []
    assert frozen > 10_000
    gone = [name for name in NOT_IN_A_TICK if name.startswith("freshet.") and _room(name.removeprefix("freshet.")) is None]
    assert gone == []


def test_modules_are_small() -> None:
    lines = {str(path.relative_to(FRAMEWORK)): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {f: n for f, n in lines.items() if n > LONGER.get(f, MOST_LINES)} == {}, "look for the second thing that it does"
    assert [f for f in LONGER if lines.get(f, 0) <= MOST_LINES] == [], "short again: take it off the list"


def _bare(path: Path) -> Iterator[str]:
    tree = _tree(path)
    if not ast.get_docstring(tree):
        yield _name(path)
    yield from (
        f"{_name(path)}.{node.name}"
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node)
    )


def test_modules_and_public_names_are_documented() -> None:
    assert [name for path in MODULES if path.stat().st_size for name in _bare(path)] == []


def _shell_lines(file: str) -> Iterator[str]:
    text = (REPOSITORY / file).read_text("utf-8")
    for block in re.findall(r"^```(?:sh|bash)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        # Without the files that a block writes.
        typed = re.sub(r"<<'EOF'\n.*?^EOF$", "", block, flags=re.MULTILINE | re.DOTALL).replace("\\\n", " ")
        yield from (line.strip() for line in typed.splitlines() if line.strip())
    yield from (span for span in re.findall(r"`([^`\n]+)`", text) if span.startswith(("freshet ", "make ")))


_OURS = re.compile(r"(?:[A-Z_]+=\S* )*(?:\S*/)?(?:freshet|make)\b")
# What the shell does with a command, and not the command.
_ONE_COMMAND = re.compile(r" (?:[|&]|>>?)(?= |$)")


def _parse(words: list[str]) -> None:
    """Let click parse a command line without running it; a bare name need only be there."""
    group: click.Command = main
    # With its settings: a command remembers the names of its help option from the first context that it is asked in.
    context = click.Context(main, **main.context_settings)
    while isinstance(group, click.Group):
        name = words.pop(0)
        command = group.get_command(context, name)
        assert command is not None, name
        group = command
        if not words:
            return
    group.make_context("freshet", words, parent=context)


@pytest.mark.parametrize("files", PAGES)
def test_documented_commands_exist(files: str) -> None:
    lines = [line for file in sorted(REPOSITORY.glob(files)) for line in _shell_lines(str(file.relative_to(REPOSITORY)))]
    assert len(lines) > 5
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    for line in filter(_OURS.match, lines):
        words = [w for w in shlex.split(_ONE_COMMAND.split(line)[0], comments=True) if not re.fullmatch(r"[A-Z_]+=\S*", w)]
        program = Path(words[0]).name if words else ""
        if program == "freshet":
            if words[1:] and words[1] not in ("--help", "--version", "..."):
                _parse(words[1:])
        elif program == "make":
            assert set(words[1:]) <= targets, line


def test_the_example_of_the_docs_is_the_files() -> None:
    page = (REPOSITORY / "docs/pipeline.md").read_text("utf-8")
    found = re.findall(r"^`(\S+)`\n\n```\w+\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert [name.partition("/")[0] for name, _ in found] == ["ddl", "pipelines", "transformers"]
    for name, text in found:
        assert text == (REPOSITORY / name).read_text("utf-8"), name


def test_every_command_is_documented() -> None:
    text = (REPOSITORY / "docs/commands.md").read_text("utf-8")
    context = click.Context(main)
    for name in main.list_commands(context):
        assert f"`freshet {name}" in text, name
    for code in ("0", "1", "2", "3", "4", "5", "6", "130", "141"):
        assert re.search(rf"^\| {code} \|", text, re.MULTILINE), code


def _anchors(file: Path) -> set[str]:
    text = re.sub(r"^```.*?^```", "", file.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads} | set(re.findall(r' id="([^"]+)"', text))


@pytest.mark.parametrize("files", PAGES)
def test_links_lead_somewhere(files: str) -> None:
    """To a file, and within a page to a heading; `make docs` holds the site's."""
    broken = []
    for file in REPOSITORY.glob(files):
        for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", file.read_text("utf-8")):
            path, _, anchor = target.partition("#")
            there = file.parent / path if path else file
            if not there.exists() or (anchor and anchor not in _anchors(there)):
                broken.append(f"{file.name}: {target}")
    assert broken == []


def test_the_page_of_the_architecture_names_every_room() -> None:
    page = (REPOSITORY / "docs" / "architecture.md").read_text("utf-8")
    named = {
        name.partition("/")[0]
        for row in re.findall(r"^\| (`.+?`) \|", page, re.MULTILINE)
        for name in re.findall(r"`(\S+)`", row)
    }
    assert named == {_name(path).partition(".")[0] for path in MODULES if path.stat().st_size} - {"", "__main__"}
