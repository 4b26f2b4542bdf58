"""Keys that nobody knows, taken for those that they nearly are, so that one mistake is one problem."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import ValidationError

from freshet.problems import nearest
from freshet.project.shape.files import Settings
from freshet.project.shape.strategies import Model


def taken_for(keys: Collection[str], model: type[Model]) -> dict[str, str]:
    """Return the key that each unknown one is taken for, which is the one that its problem suggests.

    What is below such a key is read all the same, so that one mistake is one problem.

    Args:
        keys: Keys of a file.
        model: ConfigFile or PipelineFile.
    """
    found: dict[str, str] = {}
    for key in keys:
        if key in Settings.model_fields or key.startswith(("hoodie.", "spark.", "-")):
            continue
        meant = nearest(key, model.model_fields)
        if meant is not None and meant not in keys and meant not in found.values():
            found[key] = meant
    return found


def fits(model: type[Model], key: str, value: object) -> bool:
    """Say whether a value, as the file has it, is one that a key takes."""
    try:
        model.model_validate({key: value})
    except ValidationError as error:
        return all(found["loc"][:1] != (key,) for found in error.errors(include_url=False, include_input=False))
    return True
