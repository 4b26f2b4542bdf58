"""The registry of error codes, ``framework/freshet/error_codes.yml``, and the code agree, both ways.

The kind: a code that users meet without a row, so that the reference does not know it; a row whose code is gone; a row that
names another exit code than the class of the error; a code that is put together, which nobody finds by its name.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from freshet.errors import Exit
from tests.reference.errors import REGISTRY, registry

FRAMEWORK = REGISTRY.parent
# As a whole text, in front of the words of a validator's error, or in front of those of a notice.
WRITTEN = re.compile(r"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(\||: |$)")
ONE_WORD = re.compile(r"[A-Z][A-Z0-9]+")
#: What has the shape of a code, and is a word of Hudi, HBase, Spark, Python or the environment.
_WORDS = """
    BULK_INSERT COMMIT_TIME_ORDERING COPY_ON_WRITE DATA_BEFORE_AFTER DELETE_PARTITION DELETE_PREPPED EVENT_TIME_ORDERING
    FAST_DIFF FLINK_STATE GLOBAL_BLOOM GLOBAL_SIMPLE GLOBAL_SORT INSERT_OVERWRITE INSERT_OVERWRITE_TABLE INSERT_PREPPED
    KEEP_LATEST_COMMITS LOG_COMPACT MERGE_ON_READ NON_BLOCKING_CONCURRENCY_CONTROL NON_PARTITION
    OPTIMISTIC_CONCURRENCY_CONTROL READ_LATEST
    READ_UPTO_LATEST_COMMIT RECORD_INDEX SINGLE_WRITER UPSERT_PREPPED
    FRESHET_REFUSED GX_ANALYTICS_ENABLED NO_CODEGEN PATH_NOT_FOUND RAISE_ERROR RAW_STRING SC_CLK_TCK TYPE_CHECKING
    FRESHET_CACHE FRESHET_DEBUG FRESHET_ENV FRESHET_IVY_SETTINGS FRESHET_JVM_LOG FRESHET_SERVE_TOKEN HADOOP_CONF_DIR
    JAVA_HOME JAVA_TOOL_OPTIONS
    JDK_JAVA_OPTIONS LC_ALL PYSPARK_DRIVER_PYTHON PYSPARK_GATEWAY_PORT PYSPARK_PYTHON PYSPARK_SUBMIT_ARGS SPARK_CONF_DIR
    SPARK_DIST_CLASSPATH SPARK_HOME SPARK_SUBMIT_OPTS YARN_CONF_DIR
    AWS_ENDPOINT CLOCK_BOOTTIME OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_METRICS_HEADERS SASL_PLAINTEXT SASL_SSL
"""
FOREIGN = frozenset(_WORDS.split())
#: Codes of errors that are only printed: click, the shell's signals and a setup step end the command.
ENDED_OTHERWISE = ("USAGE", "INTERRUPTED", "CLASS_DATA_FAILED")
_HINT = f"write a row in {REGISTRY.name}, or, of a word of somebody else's, its name in FOREIGN"


@cache
def _nodes() -> list[tuple[str, ast.AST]]:
    """Return what codes are looked for in, each with its file."""
    wanted = (ast.ClassDef, ast.FunctionDef, ast.Call, ast.Constant)
    return [
        (str(path.relative_to(FRAMEWORK)), node)
        for path in sorted(FRAMEWORK.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, wanted)
    ]


@cache
def _errors() -> dict[str, int]:
    """Return the exit code of each class of an error, that of its base where it names none."""
    classes = {node.name: node for _, node in _nodes() if isinstance(node, ast.ClassDef)}

    def exit_of(name: str) -> int | None:
        for one in classes[name].body if name in classes else ():
            match one:
                case (
                    ast.Assign(targets=[ast.Name("exit_code")], value=ast.Attribute(attr=own))
                    | ast.AnnAssign(target=ast.Name("exit_code"), value=ast.Attribute(attr=own))
                ):
                    return Exit[own].value
        bases = classes[name].bases if name in classes else ()
        return next((found for base in bases if (found := exit_of(ast.unparse(base))) is not None), None)

    return {name: found for name in classes if (found := exit_of(name)) is not None}


@cache
def _takers() -> dict[str, set[int]]:
    """Return by the names of functions and classes where they take a code: those with a parameter or field ``code``."""
    found: dict[str, set[int]] = defaultdict(set)
    for _, node in _nodes():
        if isinstance(node, ast.FunctionDef):
            names = [one.arg for one in (*node.args.posonlyargs, *node.args.args) if one.arg not in ("self", "cls")]
        elif isinstance(node, ast.ClassDef):
            names = [one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
        else:
            continue
        if "code" in names and node.name != "__init__":
            found[node.name].add(names.index("code"))
    for name in _errors():
        found[name].add(0)
    # It has no code of its own to take.
    found.pop("SpecError")
    return found


@cache
def _given() -> list[tuple[str, str, ast.expr]]:
    """Return what is given as a code: where, to whom, and the alternatives of the expression."""
    found = []
    for file, node in _nodes():
        match node:
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)):
                for at in _takers().get(name, ()):
                    for one in node.args[at : at + 1]:
                        either = (one.body, one.orelse) if isinstance(one, ast.IfExp) else (one,)
                        found += [(f"{file}:{node.lineno}", name, given) for given in either]
    return found


def _literals() -> Iterator[tuple[str, str, str]]:
    """Yield each text that has the shape of a code, with what stands behind it."""
    for file, node in _nodes():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (match := WRITTEN.match(node.value)):
            yield f"{file}:{node.lineno}", match[1], match[2]


def _found() -> dict[str, str]:
    """Return every code of the framework with a place where it stands."""
    one_word = {
        one.value: place
        for place, _, one in _given()
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and ONE_WORD.fullmatch(one.value)
    }
    return one_word | {code: place for place, code, _ in _literals() if code not in FOREIGN}


def test_every_code_has_a_row_and_every_row_a_code() -> None:
    rows, found = {one.name for one in registry()}, _found()
    assert {code: place for code, place in found.items() if code not in rows} == {}, _HINT
    assert rows - found.keys() == set(), "no code has these names any more: delete the rows"
    assert FOREIGN - {code for _, code, _ in _literals()} == set(), "nothing has these names any more"


def test_a_code_is_written_out() -> None:
    """A code that is put together from parts would have no row, and nobody would find where it is raised."""
    # Of the functions that share a name and not the place of the code, such as `add`, a message is looked at, too.
    sure = {name for name, places in _takers().items() if len(places) == 1}
    assert [place for place, name, one in _given() if name in sure and isinstance(one, ast.JoinedStr | ast.BinOp)] == []


def test_a_row_names_the_exit_codes_of_its_errors() -> None:
    exits = {one.name: one.exits for one in registry()}
    wrong = []
    for place, taker, one in _given():
        code = one.value if isinstance(one, ast.Constant) else None
        if code not in exits:
            continue
        wanted = _errors().get(taker, 0 if taker == "Notice" else Exit.INVALID if place.startswith("project/") else None)
        if wanted is not None and wanted not in exits[code] and code not in ENDED_OTHERWISE:
            wrong.append(f"{place}: {code} ends with {wanted}, and its row says {exits[code]}")
    wrong += [
        f"{place}: {code} is a notice"
        for place, code, behind in _literals()
        if behind == ": " and code in exits and Exit.OK not in exits[code]
    ]
    assert wrong == []


def test_rows_are_sentences_in_order() -> None:
    names = [one.name for one in registry()]
    assert names == sorted(names)
    assert len(re.findall(r"^[A-Z]\w*:$", REGISTRY.read_text("utf-8"), re.MULTILINE)) == len(names), "a row stands twice"
    for one in registry():
        for text in (one.means, one.remedy):
            assert text.endswith("."), one.name
            assert not text.startswith(" "), one.name
