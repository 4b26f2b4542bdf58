"""The Python files that steps share, ``transformers/lib/``: found by what the steps import, without running anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from freshet.problems import Problems, did_you_mean
from freshet.project.syntax.files import Place, ProjectFiles

#: The one folder of Python that every place has: it is shipped, and its name in an import is its path.
ROOT = "transformers"
FOLDER = f"{ROOT}/lib"
# With these a module may define any name in ways that its text does not show.
_OPEN_ENDED = {"__getattr__", "globals", "exec", "setattr", "vars"}


def parsed_python(text: str, file: str, problems: Problems) -> ast.Module | None:
    """Parse a file.

    Args:
        text: Its text.
        file: Its name in problems.
        problems: Receives PYTHON_SYNTAX.
    """
    try:
        return ast.parse(text, filename=file)
    except SyntaxError as error:
        problems.add(file, error.lineno or 0, "PYTHON_SYNTAX", f"Not valid Python: {error.msg}.")
    except (ValueError, RecursionError, MemoryError):
        problems.add(file, 0, "PYTHON_SYNTAX", "Not valid Python: the file cannot be parsed.")
    return None


def read_helpers(step: str, tree: ast.Module, files: ProjectFiles, problems: Problems) -> dict[str, str]:
    """Read every file of the project that a step imports, and what these import.

    Args:
        step: The step's file.
        tree: Its syntax.
        files: The project's files.
        problems: Receives HELPER_MISSING with the line of the import, and what is wrong with each helper.

    Returns:
        Texts by file, sorted.
    """
    reader = _Reader(files, problems)
    reader.follow(step, tree, None)
    reader.found.pop(step, None)
    return dict(sorted(reader.found.items()))


class _Reader:
    def __init__(self, files: ProjectFiles, problems: Problems) -> None:
        self.files, self.problems = files, problems
        self.found: dict[str, str] = {}
        self.trees: dict[str, ast.Module] = {}

    def follow(self, file: str, tree: ast.Module, package: tuple[str, ...] | None) -> None:
        """Read what a file imports; a step, which is no module of a package, has no ``package``."""
        for node, guarded in _imports(tree):
            at = None if guarded else Place(file, node.lineno)
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._module(tuple(alias.name.split(".")), at)
                continue
            named = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                if package is None:
                    self._missing(
                        at,
                        "A step cannot import by leading dots: it is no part of a package.",
                        f"Write 'from {FOLDER.replace('/', '.')}.<file> import ...'.",
                    )
                    continue
                named = (*package[: len(package) - node.level + 1], *named)
            module = self._module(named, at)
            for alias in node.names if module is not None else ():
                self._name(named, module or "", alias.name, at)

    def _module(self, name: tuple[str, ...], at: Place | None) -> str | None:
        """Read a module and the packages above it; returns its file, empty for a folder, None for what is not the project's."""
        if not name or name[0] != ROOT:
            return None
        place: str | None = ""
        for end in range(1, len(name) + 1):
            place = self._place(name[:end])
            if place is None:
                if name[:2] == (ROOT, "lib"):
                    self._missing(at, f"There is no {'/'.join(name)}.py.", did_you_mean(name[-1], self._known(name[:-1])))
                return None
            if place:
                self._read(place, name[:end], at)
        return place

    def _name(self, package: tuple[str, ...], module: str, name: str, at: Place | None) -> None:
        """Look a name up that is imported from a module: a module below it, or something that it defines."""
        if name == "*":
            return
        below = (*package, name)
        place = self._place(below)
        if place is not None:
            if place:
                self._read(place, below, at)
            return
        if package[:2] != (ROOT, "lib"):
            return
        if not module:
            self._missing(at, f"There is no {'/'.join(below)}.py.", did_you_mean(name, self._known(package)))
            return
        tree = self.trees.get(module)
        defined = _defined(tree) if tree is not None else None
        if defined is not None and name not in defined:
            self._missing(at, f"{module} defines no '{name}'.", did_you_mean(name, defined))

    def _place(self, name: tuple[str, ...]) -> str | None:
        """Return a module's file; empty for a folder without ``__init__.py``; None where there is neither."""
        folder, path = "/".join(name[:-1]) or ".", "/".join(name)
        if f"{path}/__init__.py" in self.files.names(path, ".py"):
            return f"{path}/__init__.py"
        if f"{folder}/{name[-1]}.py" in self.files.names(folder, ".py"):
            return f"{path}.py"
        return "" if (self.files.root / path).is_dir() else None

    def _read(self, file: str, name: tuple[str, ...], at: Place | None) -> None:
        if file in self.found:
            return
        text = self.files.read(file, at or Place(file, 0), "helper", self.problems)
        self.found[file] = text or ""
        tree = parsed_python(text, file, self.problems) if text is not None else None
        if tree is not None:
            self.trees[file] = tree
            self.follow(file, tree, name if PurePosixPath(file).name == "__init__.py" else name[:-1])

    def _known(self, package: tuple[str, ...]) -> list[str]:
        names = self.files.names("/".join(package), ".py")
        return [stem for name in names if (stem := PurePosixPath(name).stem) != "__init__"]

    def _missing(self, at: Place | None, message: str, hint: str) -> None:
        if at is not None:
            self.problems.add(at.file, at.line, "HELPER_MISSING", message, hint)


def _imports(tree: ast.AST, guarded: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield the imports of a file, wherever they stand, each with whether the file goes on where it fails."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                yield node, guarded
            case ast.Try():
                handled = [statement for handler in node.handlers for statement in handler.body]
                yield from _imports(ast.Module(node.body, []), guarded or bool(node.handlers))
                yield from _imports(ast.Module([*handled, *node.orelse, *node.finalbody], []), guarded)
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                yield from _imports(node, True)
            case _:
                yield from _imports(node, guarded)


def _defined(tree: ast.Module) -> set[str] | None:
    """Return every name that a module binds anywhere; None where its text does not tell them all."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name in _OPEN_ENDED:
                return None
            case ast.Name(id=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                if name in _OPEN_ENDED:
                    return None
                found.add(name)
            case ast.alias(name="*"):
                return None
            case ast.alias(name=name, asname=other):
                found.add(other or name.split(".")[0])
            case ast.MatchAs(name=str(name)) | ast.ExceptHandler(name=str(name)):
                found.add(name)
    return found
