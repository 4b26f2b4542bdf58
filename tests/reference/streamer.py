"""The page of HoodieStreamer's keys and options, from the tables by which freshet answers them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from freshet.hudi.keys import streamer_instead, streamer_keys, streamer_options
from tests.reference.text import MADE, plain, table

_HEAD = ("HoodieStreamer", "in freshet")
_INTRO = """# HoodieStreamer's keys

What to write for each key and option of HoodieStreamer. `freshet validate` says the same, with file and line, for each
one that a pipeline holds. [Coming from HoodieStreamer](../guides/from-hoodiestreamer.md) says how a table is handed over.

A key with the older prefix `hoodie.deltastreamer.` means the same. Keys of Hudi itself, such as
`hoodie.datasource.write.recordkey.field`, keep their names: [YAML keys](yaml.md#keys-under-hoodie) has them.
"""


def streamer_page() -> str:
    """Return the page."""
    honoured = [(f"`{key.name}`", _marked(key.effect)) for key in streamer_keys.HONOURED.values()]
    keys = [(_names(map(_whole, names.split())), _marked(advice)) for advice, names in streamer_instead.INSTEAD]
    options = [(_names(names.split()), _marked(advice)) for advice, names in streamer_options._ADVICE]
    return "\n".join(
        (
            MADE,
            _INTRO,
            "## Keys that freshet reads\n",
            table(("key", "what it does"), honoured),
            "\n## Keys that have another form\n",
            table(_HEAD, keys),
            "\n## Options of the command line\n",
            table(_HEAD, options),
            "",
        )
    )


def _whole(name: str) -> str:
    return f"{streamer_keys.PREFIX}{name}{'*' if name.endswith('.') else ''}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _marked(text: str) -> str:
    """Return a text with what it quotes, and the keys in it, as code."""
    return plain(re.sub(r"(?<!\w)'([^'`]+)'", r"`\1`", text))
