"""The shape of a file of test cases, ``pipelines/tests/<pipeline>.yml``: what keys there are and what they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from freshet.problems import Problems, did_you_mean, is_misspelt
from freshet.project.load.layers import place_in, plain
from freshet.project.shape.strategies import Model, Name, OneOrMore, refused
from freshet.project.syntax.files import Place
from freshet.project.syntax.yaml_nodes import MapNode

# Inline rows, or the name of a CSV file in the same folder.
Rows = list[dict[str, Any]] | Name


def _digits(value: str | int) -> str | int:
    if not re.fullmatch(r"[0-9]{14,17}", str(value)):
        raise refused("an instant is yyyyMMddHHmmss, or three digits more.", "Write 20260801101500000.")
    return value


class FixtureTable(Model):
    """A table that no DDL of the project declares."""

    columns: Name = Field(alias="schema", description='Its columns, as in "trip_id string, fare decimal(10,2)".')
    key: OneOrMore | None = Field(None, description="Record key; a case with a target needs it.")
    partition: OneOrMore | None = Field(None, description="Partition columns.")
    ordering: Name | None = Field(None, description="Ordering field.")


class Expect(Model):
    """What must come of the given rows."""

    rows: Rows | None = Field(None, description="The rows that the transformation returns.")
    target: Rows | None = Field(None, description="The rows of the target after the write.")
    error: Name | None = Field(None, description="The code by which the run fails, such as NULL_VALUE.")
    checks: dict[str, Literal["passed", "failed", "warned", "dropped", "skipped"]] = Field(
        default_factory=dict,
        description="What becomes of the pipeline's checks, by their names.",
    )

    @model_validator(mode="after")
    def _something(self) -> Expect:
        if self.rows is None and self.target is None and self.error is None and not self.checks:
            raise refused("it says nothing.", "Write rows, target, error or checks.", "MISSING_KEY")
        others = {"error": self.error, "target": self.target is not None, "checks": self.checks}
        other = next((name for name, given in others.items() if given), "")
        if self.rows is not None and other:
            raise refused(f"rows and {other} do not go together.", "Make two cases of it.")
        return self


class FixtureCase(Model):
    """Given rows, and what must come of them."""

    description: str = Field("", description="What the case is about.")
    given: dict[str, Rows] = Field(
        default_factory=dict,
        description="Rows of SRC, of the inputs by their names, and of the target; none where left out.",
    )
    vars: dict[str, bool | int | float | str] = Field(
        default_factory=dict,
        description="Variables for templates, in this case.",
    )
    source_instant: Annotated[str | int, AfterValidator(_digits)] | None = Field(
        None,
        description="What <SRC_INSTANT> stands for.",
    )
    expect: Expect = Field(description="What must come of it.")


class FixtureFile(Model):
    """A file in pipelines/tests/."""

    tables: dict[str, FixtureTable] = Field(
        default_factory=dict,
        description="SRC and inputs whose tables no DDL of the project declares, by their names.",
    )
    cases: dict[str, FixtureCase] = Field(min_length=1, description="The cases, by their names.")


def validate_fixture(tree: MapNode, problems: Problems) -> FixtureFile | None:
    """Validate a file's structure.

    Args:
        tree: The parsed file.
        problems: Receives what does not fit, each with its line.

    Returns:
        The file, or None where something did not fit.
    """
    try:
        return FixtureFile.model_validate(plain(tree))
    except ValidationError as error:
        seen: set[Place] = set()
        errors = error.errors(include_url=False, include_input=False)
        unknown = [tuple(map(str, found["loc"])) for found in errors if found["type"] == "extra_forbidden"]
        for found in errors:
            # Of a union each member complains, by a part of the path that is none of the file's.
            path = tuple(str(part) for part in found["loc"])
            if found["type"] == "missing" and is_misspelt(path, unknown):
                continue
            place = place_in(tree, tree.file, path)
            if place not in seen or found["type"] == "extra_forbidden":
                seen.add(place)
                _note(path, found["type"], found["msg"], found.get("ctx", {}), place, problems)
        return None


_KEYS: dict[int, type[Model]] = {1: FixtureFile, 3: FixtureCase, 4: Expect}


def _note(path: tuple[str, ...], kind: str, message: str, context: Mapping[str, Any], place: Place, problems: Problems) -> None:
    dotted = ".".join(path)
    if kind == "missing":
        problems.add(place.file, place.line, "MISSING_KEY", f"The key '{dotted}' is missing.")
    elif kind == "extra_forbidden":
        owner = FixtureTable if path[0] == "tables" else _KEYS[len(path)]
        known = [field.alias or name for name, field in owner.model_fields.items()]
        problems.add(place.file, place.line, "UNKNOWN_KEY", f"Unknown key '{dotted}'.", did_you_mean(path[-1], known))
    elif "hint" in context:
        problems.add(place.file, place.line, kind, f"{dotted}: {message}", context["hint"])
    else:
        rows = "given" in path[2:3] or path[3:4] in (("rows",), ("target",))
        hint = "Write a list of rows, each '{column: value, ...}', or the name of a CSV file beside this one." if rows else ""
        shown = ".".join(path[:4] if rows else path)
        problems.add(place.file, place.line, "WRONG_TYPE", f"{shown}: {message[:1].lower() + message[1:]}.", hint)
