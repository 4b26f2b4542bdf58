"""The spark-submit command that runs the same pipelines on a cluster."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import freshet
from freshet.cache import cache_dir
from freshet.errors import FreshetError
from freshet.jvm.conf import source_jars, without_secrets
from freshet.jvm.hbase_site import with_hbase_site
from freshet.jvm.jars import resolve_jars
from freshet.jvm.session import session_conf
from freshet.project.model.pipeline import Project
from freshet.secrets import REDACTOR, redact

# Folders of a project that a run reads; what else lies there is not shipped.
_PROJECT_FOLDERS = ("pipelines", "ddl", "configs", "transformers")


def archive_path(root: str) -> Path:
    """Return where the project's archive lies: in the cache, because a project may stand on a read-only disk."""
    return cache_dir() / "archives" / f"freshet-{hashlib.sha256(root.encode()).hexdigest()[:12]}.zip"


def submit_command(project: Project, names: Sequence[str], overrides: Sequence[str], archive: Path) -> list[str]:
    """Return the command, one word an element.

    Settings that hold a secret are left out: the driver reads them from its own environment.

    Args:
        project: The project with the pipelines to run.
        names: Their names.
        overrides: ``--set`` values, passed on.
        archive: Where ``write_archive`` puts framework and project files, which the executors import from.
    """
    # Of a part of one, such as a folder's name, nobody can say that it is meant.
    secret = [override for override in overrides if REDACTOR.redact_whole(override) != override]
    if secret:
        raise FreshetError(
            "SECRET_ON_COMMAND_LINE",
            f"--set {redact(secret[0])} holds a secret, which the printed command would show.",
            "Nothing was printed.",
            "Leave it out of --set and read it in the YAML: {{ env.NAME }}.",
        )
    given = project.pipelines[0].spark_conf
    conf = session_conf(with_hbase_site(without_secrets(given), archived=False), resolve_jars(), sources=source_jars(given))
    words = [
        "spark-submit",
        "--master",
        conf.pop("spark.master"),
        "--name",
        "freshet-" + "-".join(names),
        "--jars",
        conf.pop("spark.jars"),
        "--py-files",
        str(archive),
    ]
    conf.pop("spark.app.name")
    words += [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    words += [str(Path(freshet.__file__).with_name("jvm") / "submitted" / "main.py"), "run", *names, "--project", project.root]
    words += ["--env", project.env]
    return words + [word for override in overrides for word in ("--set", override)]


def write_archive(root: str, archive: Path) -> Path:
    """Zip framework and project files, for executors that do not have them.

    Args:
        root: The project's root.
        archive: The zip to write; replaced in one step.

    Returns:
        ``archive``.
    """
    package = Path(freshet.__file__).parent
    files = [(path, Path("freshet") / path.relative_to(package)) for path in _shipped(package)]
    for folder in _PROJECT_FOLDERS:
        files += [(path, path.relative_to(root)) for path in _shipped(Path(root) / folder)]
    archive.parent.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_suffix(f".{os.getpid()}.tmp")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as bundle:
        for path, name in sorted(files, key=lambda pair: str(pair[1])):
            bundle.write(path, str(name))
        # Without an entry of its own a folder in a zip is no namespace package.
        for parent in sorted({parent for _, name in files for parent in name.parents if parent.name}):
            bundle.writestr(f"{parent}/", "")
    os.replace(unfinished, archive)
    return archive


def _shipped(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
