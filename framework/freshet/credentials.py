"""Credentials in texts that were kept earlier: nobody knows any more which secrets they were made with.

A record of a run, a checkpoint and a note in a commit may hold a secret that has been changed since, so that ``secrets`` does
not know it. What can be a credential by its place or its form is cut out of such a text where it is read back.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

#: What stands for it.
CUT = "..."
# No message is as long; of a file that is none each pattern would take its time at every sign.
_LONGEST = 2_000
# Where a text is quoted or goes on, an address ends.
_END = r"\s'\"<>|`"
_SCHEME = r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*://"
_NAME = (
    r"(?:secret|token|passw(?:or)?d|passphrase|(?<![a-z])pwd(?![a-z])|credential|signature|(?<![a-z])(?:sig|sas|pass)(?![a-z])"
    r"|(?:access|account|api|auth|client|encryption|master|private|secret|shared|signing|storage)[-_. ]?key"
    r"|authorization|jaas\.config|conn(?:ection)?[-_.]?str(?:ing)?)"
)
_TELLS = re.compile(rf"(?i:{_NAME})")
# Nearly every text that is kept has none of these. It is looked at with every record, and a tick without news reads one.
_SIGNS = re.compile(
    r"://|@|==|A[A-Z]{3}[A-Z0-9]{12}|[A-Za-z]{2,6}_\w{8}|xox[a-z]-|glpat-|AIza|ya29|dapi|eyJ|PRIVATE KEY"
    rf"|(?i:{_NAME}|bearer|basic)"
)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return what is cut, and what stays of it, in this order."""
    forms = re.compile(
        r"(?<![A-Za-z0-9])(?:"
        # Ids of AWS's keys, tokens of services that say what they are, JSON web tokens.
        r"A(?:KIA|SIA|GPA|IDA|ROA|NPA|NVA|BIA|CCA)[A-Z0-9]{12,}"
        r"|gh[oprsu]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{8,}|AIza[\w-]{30,}|ya29\.[\w-]+"
        r"|dapi[0-9a-f]{30,}|[sr]k_(?:live|test)_\w{8,}|eyJ[\w-]{6,}\.[\w-]+(?:\.[\w-]*)?"
        # A storage account's key.
        r"|[A-Za-z0-9+/]{86}=="
        r"|(?:Bearer|Basic) +[\w.+/=~-]{8,}"
        r")|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.*?-----END [A-Z ]*KEY-----|.*)",
        re.DOTALL,
    )
    # A password may hold slashes and colons: what stands before the last @. Azure's container stands there, too, without a
    # colon.
    user = re.compile(
        rf"({_SCHEME})(?:[^{_END}@/:]{{0,999}}:[^{_END}]{{0,999}}@"
        rf"|(?<!abfs://)(?<!abfss://)(?<!wasb://)(?<!wasbs://)[^{_END}@/]{{0,999}}@)"
    )
    # Messages are cut, and may end before it.
    cut_user = re.compile(rf"({_SCHEME})[^{_END}@/:]{{0,999}}:(?!\d{{1,5}}(?:/| …))[^{_END}@]{{0,999}} …")
    query = re.compile(rf"({_SCHEME}[^{_END}?#]*[?#])[^{_END}]+")
    # What a redactor has put there stays.
    value = (
        r"(?!['\"]?\$\{env\.)(?:\\?\"(?:\\.|[^\"\\])*\\?\"|'(?:\\.|[^'\\])*'"
        r"|(?:(?:Basic|Bearer|Digest|AWS\S*|SharedKey\w*) +)?[^\s,;&'\"})\]]+)"
    )
    around = rf"[\w.-]{{0,40}}{_NAME}[\w.-]{{0,40}}"
    # As in URLs, properties, YAML, JSON and Java's maps; and on a command line.
    named = re.compile(rf"(?i:({around}\\?[\"']?(?: *[=:] *|(?<=[\w]) +(?=[\"'])))){value}")
    option = re.compile(rf"(?i:(--?{around} +))(?![-=:]){value}")
    no_scheme = re.compile(rf"(?<![\w/.-])[\w.+-]+:[^{_END}@/:,;]{{3,}}@(?=[\w-])")
    return (
        (forms, CUT),
        (user, rf"\1{CUT}@"),
        (cut_user, rf"\1{CUT}"),
        (query, rf"\1{CUT}"),
        (named, rf"\1{CUT}"),
        (option, rf"\1{CUT}"),
        (no_scheme, f"{CUT}@"),
    )


def without_credentials(text: str) -> str:
    """Return a text that was kept earlier without what can be a credential in it.

    Of an address that are its user and all behind its ``?``, and anywhere else the value beside a name that tells of one, and
    what has the form of a key or a token.

    Args:
        text: A text that somebody wrote earlier, such as an error's message in a record.
    """
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
    if _SIGNS.search(text):
        for pattern, stays in _patterns():
            text = pattern.sub(stays, text)
    return text


def bare_path(path: str) -> str:
    """Return a table's path that was kept earlier without its user, its query and its fragment.

    Args:
        path: A local path or a URI, which may hold blanks.
    """
    scheme, found, rest = path.partition("://")
    if not found:
        return without_credentials(path)
    rest, mark, _ = rest.partition("?") if "?" in rest else rest.partition("#")
    # The bucket of a password with a slash or an @ in it stands behind the last one.
    user, at, place = rest.rpartition("@")
    if at and not (scheme.lower() in ("abfs", "abfss", "wasb", "wasbs") and not set(":/@") & set(user)):
        rest = f"{CUT}@{place}"
    return without_credentials(f"{scheme}://{rest}{mark}{CUT if mark else ''}")


def tree_without_credentials(tree: Any) -> Any:
    """Return a copy of a JSON-able tree that was kept earlier, each of its texts and keys without credentials.

    Args:
        tree: What was kept. The value beside a key that tells of a credential goes whole.
    """
    match tree:
        case str():
            return without_credentials(tree)
        case dict():
            return {
                without_credentials(str(key)): CUT
                if isinstance(value, str) and value and _TELLS.search(str(key))
                else tree_without_credentials(value)
                for key, value in tree.items()
            }
        case list() | tuple():
            return [tree_without_credentials(item) for item in tree]
        case _:
            return tree
