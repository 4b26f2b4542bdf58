"""Load a Python step and what it imports of the project, as their files stand now."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from threading import RLock
from types import CodeType, ModuleType

from pyspark import cloudpickle

from freshet.project.rules.helpers import FOLDER, ROOT

# Of a folder without __init__.py: there is nothing in it to compare.
_NOTHING = b""


class _Source(SourceFileLoader):
    """Compiles the text each time: Python's own cache takes a file for unchanged that was saved twice within a second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        # Executors may have an older file of this name, or none, so that what a UDF takes from here travels whole. A module
        # that does so takes its loader along, which must be one that every Python has.
        known = SourceFileLoader(module.__name__, self.path)
        module.__loader__, module.__spec__.loader = known, known  # type: ignore[union-attr]
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


class _Helpers(MetaPathFinder):
    """Finds modules below ``transformers`` in one project, before any package of that name that is installed."""

    def __init__(self) -> None:
        self.root, self.root_added = "", False
        self.lock = RLock()
        self.loaded: dict[str, tuple[Path | None, bytes]] = {}

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if not self.root or not fullname.startswith(f"{ROOT}."):
            return None
        place = self._place(fullname)
        if place is not None or fullname.startswith(f"{FOLDER.replace('/', '.')}."):
            # One that is not there may come, and whoever went on without it has to be loaded again.
            self.loaded[fullname] = (place, _content(place))
        if place is None:
            return None
        if place.is_dir():
            found = ModuleSpec(fullname, None, is_package=True)
            found.submodule_search_locations = [str(place)]
            return found
        below = [str(place.parent)] if place.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname,
            place,
            loader=_Source(fullname, str(place)),
            submodule_search_locations=below,
        )

    def look_again(self, root: str) -> None:
        """Forget the modules of another project, and all of this one where a file is not as it was loaded."""
        changed = any(
            self._place(name) != before or _content(before) != content for name, (before, content) in list(self.loaded.items())
        )
        if root != self.root:
            if self.root_added and self.root in sys.path:
                sys.path.remove(self.root)
            self.root_added = root not in sys.path
            if self.root_added:
                sys.path.insert(0, root)
            importlib.invalidate_caches()
        elif not changed:
            return
        for name in [*self.loaded, ROOT]:
            # A package of this name that is installed is none of ours.
            if name != ROOT or _is_of_project(sys.modules.get(name), self.root):
                sys.modules.pop(name, None)
        self.loaded.clear()
        self.root = root
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def _place(self, fullname: str) -> Path | None:
        base = Path(self.root, *fullname.split("."))
        files = [file for file in (base / "__init__.py", base.with_suffix(".py")) if file.is_file()]
        return files[0] if files else base if base.is_dir() else None


_HELPERS = _Helpers()


def load_step(root: str, file: str) -> ModuleType:
    """Load a step anew, with the helpers that it imports.

    Args:
        root: The project's root. ``transformers/lib/fares.py`` below it is ``transformers.lib.fares``, whatever is installed.
        file: The step's file, relative to the root.

    Raises:
        Exception: Whatever the file, or a helper, raises.
    """
    with _HELPERS.lock:
        _HELPERS.look_again(root)
        name = "freshet_step_" + file.removesuffix(".py").replace("/", "_")
        loader = _Source(name, str(Path(root) / file))
        spec = importlib.util.spec_from_file_location(name, loader.path, loader=loader)
        if spec is None:
            raise ImportError(f"cannot load {file}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        loader.exec_module(module)
        return module


def _content(place: Path | None) -> bytes:
    try:
        return place.read_bytes() if place else _NOTHING
    except OSError:
        return _NOTHING


def _is_of_project(module: ModuleType | None, root: str) -> bool:
    # One without a file is made of the folders of this name on the path.
    file = getattr(module, "__file__", None)
    return module is not None and (file is None or Path(file).is_relative_to(root or "."))
