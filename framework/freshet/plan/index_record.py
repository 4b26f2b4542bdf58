"""What a commit remembers of its index, of which Hudi stores neither the type nor the parameters. Pure."""

from __future__ import annotations

import json

from freshet.credentials import bare_path, without_credentials
from freshet.project.model.hidden import beside, digest_of
from freshet.project.model.pipeline import PipelineSpec


def index_record(spec: PipelineSpec) -> str:
    """Return the text under which a commit of a pipeline remembers its index: without a secret."""
    parameters = dict(sorted(spec.index.parameters.items()))
    hidden = {key: shown for key, value in parameters.items() if (shown := spec.hidden.get(value))}
    digests = {key: digest_of(parameters[key], shown) for key, shown in hidden.items()}
    return json.dumps(
        {"type": spec.index.type, "parameters": {**parameters, **hidden}, **({"digests": digests} if digests else {})},
        sort_keys=True,
    )


def is_index(recorded: str, spec: PipelineSpec) -> bool:
    """Say whether what a commit remembers is a pipeline's index."""
    found, declared = json.loads(recorded), spec.index.parameters
    stands, digests = found.get("parameters", {}), found.get("digests", {})
    return (
        found.get("type") == spec.index.type
        and stands.keys() == declared.keys()
        and all(
            digests[key] == digest_of(value, stands[key]) if key in digests else stands[key] == value
            for key, value in declared.items()
        )
    )


def index_in_words(recorded: str, spec: PipelineSpec) -> str:
    """Return in words what a commit remembers; what was kept in clear may hold an older secret where the files name one."""
    index = json.loads(recorded)
    digests, declared = index.get("digests", {}), spec.index.parameters
    words = [
        f"{key}={value if key in digests or value in (*spec.hidden, declared.get(key)) else _shown(value, key, spec)}"
        for key, value in index.get("parameters", {}).items()
    ]
    kind = without_credentials(str(index.get("type", "an index that is not named")))
    return f"{kind} ({', '.join(words)})" if words else kind


def _shown(value: str, key: str, spec: PipelineSpec) -> str:
    shown = spec.hidden.get(spec.index.parameters.get(key, ""))
    return beside(value, shown) if shown else bare_path(value)
