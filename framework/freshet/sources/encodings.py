"""The kinds of positions that a checkpoint may hold, by the name that it keeps of each."""

from __future__ import annotations

from freshet.sources.files.position import ENCODING as OF_FILES
from freshet.sources.hudi.position import ENCODING as OF_HUDI
from freshet.sources.kafka.position import ENCODING as OF_KAFKA
from freshet.sources.position import Encoding

#: One for each kind of source; ``freshet.sources.registry`` has the sources themselves.
ENCODINGS: dict[str, Encoding] = {one.kind: one for one in (OF_HUDI, OF_KAFKA, OF_FILES)}
