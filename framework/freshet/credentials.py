"""Credentials in texts that were kept earlier: nobody knows any more which secrets they were made with.

A record of a run, a checkpoint and a note in a commit may hold a secret that has been changed since, so that ``secrets`` does
not know it. What can be a credential by its place or its form is cut out of such a text where it is read back.
"""

from __future__ import annotations

import re
from typing import Any

#: What stands for it.
CUT = "..."
# No message is as long; of a file that is none each pattern would take its time at every sign.
_LONGEST = 2_000
# Where a text is quoted or goes on, an address ends.
_END = r"\s'\"<>|`"
_SCHEME = r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*://"
# A password may hold slashes and colons: what stands before the last @. Azure's container stands there, too, without a colon.
_USER = re.compile(
    rf"({_SCHEME})(?:[^{_END}@/:]{{0,999}}:[^{_END}]{{0,999}}@"
    rf"|(?<!abfs://)(?<!abfss://)(?<!wasb://)(?<!wasbs://)[^{_END}@/]{{0,999}}@)"
)
# Messages are cut, and may end before it.
_CUT_USER = re.compile(rf"({_SCHEME})[^{_END}@/:]{{0,999}}:(?!\d{{1,5}}(?:/| …))[^{_END}@]{{0,999}} …")
_QUERY = re.compile(rf"({_SCHEME}[^{_END}?#]*[?#])[^{_END}]+")
_NO_SCHEME = re.compile(rf"(?<![\w/.-])[\w.+-]+:[^{_END}@/:,;]{{3,}}@(?=[\w-])")
_NAME = (
    r"(?:secret|token|passw(?:or)?d|passphrase|(?<![a-z])pwd(?![a-z])|credential|signature|(?<![a-z])(?:sig|sas|pass)(?![a-z])"
    r"|(?:access|account|api|auth|client|encryption|master|private|secret|shared|signing|storage)[-_. ]?key"
    r"|authorization|jaas\.config|conn(?:ection)?[-_.]?str(?:ing)?)"
)
# What a redactor has put there stays.
_VALUE = (
    r"(?!['\"]?\$\{env\.)(?:\\?\"(?:\\.|[^\"\\])*\\?\"|'(?:\\.|[^'\\])*'"
    r"|(?:(?:Basic|Bearer|Digest|AWS\S*|SharedKey\w*) +)?[^\s,;&'\"})\]]+)"
)
# As in URLs, properties, command lines, YAML, JSON and Java's maps.
_NAMED = re.compile(
    rf"(?i:([\w.-]{{0,40}}{_NAME}[\w.-]{{0,40}}\\?[\"']?(?: *[=:] *|(?<=[\w]) +(?=[\"'])))){_VALUE}",
)
_TELLS = re.compile(rf"(?i:{_NAME})")
_OPTION = re.compile(rf"(?i:(--?[\w.-]{{0,40}}{_NAME}[\w.-]{{0,40}} +))(?![-=:]){_VALUE}")
_FORMS = re.compile(
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


def without_credentials(text: str) -> str:
    """Return a text that was kept earlier without what can be a credential in it.

    Of an address that are its user and all behind its ``?``, and anywhere else the value beside a name that tells of one, and
    what has the form of a key or a token.

    Args:
        text: A text that somebody wrote earlier, such as an error's message in a record.
    """
    text = _FORMS.sub(CUT, text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …")
    text = _CUT_USER.sub(rf"\1{CUT}", _USER.sub(rf"\1{CUT}@", text))
    text = _QUERY.sub(rf"\1{CUT}", text)
    text = _NAMED.sub(rf"\1{CUT}", text)
    text = _OPTION.sub(rf"\1{CUT}", text)
    return _NO_SCHEME.sub(f"{CUT}@", text)


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
