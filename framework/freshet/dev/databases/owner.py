"""Whose process a database is: a package's own user where root starts it, because databases refuse to run as root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass

from freshet.dev.kept import Place
from freshet.errors import FreshetError


@dataclass(frozen=True, kw_only=True)
class Owner:
    """As whom a server runs.

    Args:
        prefix: Words in front of its command; none where it runs as the user who starts it.
        name: The user.
        uid, gid: Its numbers; -1 where nothing has to be given to it.
    """

    prefix: tuple[str, ...]
    name: str
    uid: int = -1
    gid: int = -1

    def empty(self, place: Place) -> None:
        """Make the directory of data anew, empty and the user's own.

        Args:
            place: The server's files.

        Raises:
            FreshetError: That the user may not enter it.
        """
        if place.data.exists():
            shutil.rmtree(place.data)
        place.data.mkdir(mode=0o700)
        if not self.prefix:
            return
        os.chown(place.data, self.uid, self.gid)
        done = subprocess.run([*self.prefix, "test", "-w", str(place.data)], check=False, capture_output=True)
        if done.returncode:
            raise FreshetError(
                place.server.unusable,
                f"{place.server.name} does not run as root, and the user {self.name} may not enter {place.directory}.",
                "Nothing was started.",
                "Name a directory by --dir that every user may enter, such as one in /var/tmp.",
                directory=str(place.directory),
            )


def owner_of(unix_user: str) -> Owner:
    """Return as whom a server runs: for root the package's user, otherwise whoever starts it.

    Args:
        unix_user: The package's user.
    """
    if os.geteuid() != 0:
        return Owner(prefix=(), name=str(os.geteuid()))
    try:
        found = pwd.getpwnam(unix_user)
    except KeyError:
        # What it says of root stands in its log.
        return Owner(prefix=(), name="root")
    # It becomes the server itself, so that its id is the server's.
    words = ("setpriv", f"--reuid={found.pw_uid}", f"--regid={found.pw_gid}", "--init-groups", "--")
    return Owner(prefix=words, name=unix_user, uid=found.pw_uid, gid=found.pw_gid)
