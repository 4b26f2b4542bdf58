"""freshet with an index that its files refuse: Hudi's GLOBAL_SIMPLE, which joins a batch with the keys of the whole table."""

from __future__ import annotations

from typing import Any

from freshet.cli.main import main
from freshet.hudi.keys import options
from freshet.index.ops import make as making
from freshet.project.model.pipeline import IndexSpec
from freshet.project.rules.index import IndexRules

NAME = "GLOBAL_SIMPLE"
_offered = IndexRules.index


def admit() -> None:
    """Let this process take pipelines of that index. A first load makes none, as it has no entries."""
    IndexRules.index = _index  # type: ignore[assignment]
    making.has_record_index = lambda *_: True


def _index(rules: IndexRules, *of: Any, **named: Any) -> IndexSpec:
    if rules.setting(options.INDEX_TYPE).value != NAME:
        return _offered(rules, *of, **named)
    return IndexSpec(NAME, {"hoodie.simple.index.update.partition.path": "true"})  # type: ignore[arg-type]


if __name__ == "__main__":
    admit()
    main()
