"""A column that a Python step names after a secret is refused before it is written, and said by no letter of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from freshet.errors import DataError
from freshet.quality.secret_names import names_in, refuse_secret_names, texts_of
from freshet.secrets import Redactor

SECRET = "violetkumquat77"


def _refused(*names: str, seen: tuple[str, ...] = (), text: str = "", secret: str = SECRET) -> str:
    secrets = Redactor()
    secrets.register("S", secret)
    try:
        refuse_secret_names("payments", names, seen, lambda: [text], secrets)
    except DataError as error:
        return "told" if secret.lower() in str(error).lower() else error.code
    return ""


@pytest.mark.parametrize("name", [SECRET, f"x_{SECRET}_y", SECRET.upper(), SECRET[3:12], f"a{SECRET}"])
def test_a_secret_a_part_of_one_and_what_is_made_of_it(name: str) -> None:
    assert _refused("amount", name) == "SECRET_IN_NAME"


def test_what_stands_in_the_tables_or_in_the_files_is_no_secret() -> None:
    """A value such as `dev` or `prod` is in many words; only what is nowhere to be seen comes from it."""
    assert _refused("device", seen=("DEVICE",), secret="dev") == ""
    assert _refused("device", text='rows.withColumn("device", x)', secret="dev") == ""
    assert _refused("eu_device", text='f"{place}_device"', secret="dev") == ""
    assert _refused("x_dev", text='f"x_{stage}" # the device', secret="dev") == "SECRET_IN_NAME"
    # Each of its words is in the file, and the whole is not.
    assert _refused("north_star_nine", text="north star nine", secret="north_star_nine") == "SECRET_IN_NAME"


def test_the_fields_of_a_type_are_names() -> None:
    kind: dict[str, Any] = {
        "type": "array",
        "elementType": {
            "type": "struct",
            "fields": [
                {"name": "a", "type": {"type": "map", "keyType": "string", "valueType": {"type": "struct", "fields": []}}},
                {"name": "b", "type": {"type": "struct", "fields": [{"name": "c", "type": "long"}]}},
            ],
        },
    }
    assert sorted(names_in(kind)) == ["a", "b", "c"]
    assert list(names_in("string")) == []


def test_the_files_are_read_with_the_modules_that_they_import(tmp_path: Path) -> None:
    for place, text in (("transformers/a.py", "one"), ("transformers/lib/deep/b.py", "two"), ("transformers/c.sql", "three")):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    assert sorted(texts_of(str(tmp_path), ["transformers/a.py", "transformers/c.sql"])) == ["one", "three", "two"]
