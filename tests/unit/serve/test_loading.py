"""Which pipelines of a project are served, and what becomes of files that change."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from freshet.errors import FreshetError, SpecError, UnknownName
from freshet.serve.loading import Loaded, Wanted, load_valid
from freshet.serve.reloading import Reloading
from tests.kit.project import BASE, PIPELINE, a_project

BROKEN = "ddl: ddl/nothing.sql\n"


def projects(root: Path, *names: str, **files: str) -> Wanted:
    """Write a project of some pipelines; files by the names of pipelines go over theirs."""
    for name in names:
        a_project(root, name)
    for name, text in files.items():
        (root / f"pipelines/{name}.yml").write_text(text)
    return Wanted(root=root)


def served(loaded: Loaded) -> list[str]:
    return [spec.name for spec in loaded.project.pipelines]


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Note what is loaded."""
    found: list[tuple[str, ...]] = []
    load: Callable[[Wanted, tuple[str, ...]], object] = Wanted.load

    def noted(wanted: Wanted, names: tuple[str, ...]) -> object:
        found.append(names)
        return load(wanted, names)

    monkeypatch.setattr(Wanted, "load", noted)
    return found


def test_a_valid_project_is_loaded_once(tmp_path: Path, loads: list[tuple[str, ...]]) -> None:
    loaded = load_valid(projects(tmp_path, "a", "b"))
    assert (served(loaded), loaded.invalid, loads) == (["a", "b"], {}, [()])
    assert "pipelines/a.yml" in loaded.on_disk
    assert loaded.spec("a") is loaded.project.pipelines[0]
    assert loaded.spec("c") is None


def test_an_invalid_pipeline_beside_valid_ones_is_left_out_and_told(tmp_path: Path, loads: list[tuple[str, ...]]) -> None:
    loaded = load_valid(projects(tmp_path, "a", "c", b=BROKEN, d="ddl: [\n"))
    assert served(loaded) == ["a", "c"]
    assert {name: problems[0].file for name, problems in loaded.invalid.items()} == {
        "b": "pipelines/b.yml",
        "d": "pipelines/d.yml",
    }
    assert len(loads) <= 6


def test_what_is_wrong_with_another_file_of_a_pipeline_is_found_too(tmp_path: Path) -> None:
    wanted = projects(tmp_path, *(f"p{n}" for n in range(9)))
    (tmp_path / "ddl/p4.sql").write_text("CREATE TABLE nonsense")
    (tmp_path / "transformers/p7.sql").write_text("SELECT {{ var.nothing }} FROM <SRC>")
    loaded = load_valid(wanted)
    assert sorted(loaded.invalid) == ["p4", "p7"]
    assert served(loaded) == [f"p{n}" for n in range(9) if n not in (4, 7)]


def test_two_that_write_one_table_are_not_both_served(tmp_path: Path) -> None:
    wanted = projects(tmp_path, "a", "b", "c")
    (tmp_path / "ddl/b.sql").write_text((tmp_path / "ddl/a.sql").read_text())
    loaded = load_valid(wanted)
    assert "c" in served(loaded)
    assert not {"a", "b"} <= set(served(loaded))
    assert sorted([*served(loaded), *loaded.invalid]) == ["a", "b", "c"]


def test_a_config_that_is_wrong_for_all_is_not_tried_for_each(tmp_path: Path, loads: list[tuple[str, ...]]) -> None:
    wanted = projects(tmp_path, *(f"p{n:03}" for n in range(40)))
    (tmp_path / "configs/base.yml").write_text(f"{BASE}nonsense: 1\n")
    with pytest.raises(SpecError) as found:
        load_valid(wanted)
    assert [problem.code for problem in found.value.problems] == ["UNKNOWN_KEY"]
    assert len(loads) < 15


@pytest.mark.parametrize("changes", [{"names": ("nobody",)}, {"tags": ("nobody",)}])
def test_who_is_not_there_is_told_as_by_every_command(tmp_path: Path, changes: dict[str, tuple[str, ...]]) -> None:
    projects(tmp_path, "a", b=BROKEN)
    with pytest.raises(UnknownName):
        load_valid(Wanted(root=tmp_path, **changes))  # type: ignore[arg-type]


def test_an_environment_that_there_is_not_and_a_project_that_there_is_not(tmp_path: Path) -> None:
    projects(tmp_path, "a")
    with pytest.raises(SpecError):
        load_valid(Wanted(root=tmp_path, env="nowhere"))
    with pytest.raises(SpecError):
        load_valid(Wanted(root=tmp_path / "elsewhere"))


def test_of_a_selection_the_others_do_not_count(tmp_path: Path) -> None:
    projects(tmp_path, "a", "c", b=BROKEN)
    assert served(load_valid(Wanted(root=tmp_path, names=("a",)))) == ["a"]
    loaded = load_valid(Wanted(root=tmp_path, names=("a", "b")))
    assert (served(loaded), list(loaded.invalid)) == (["a"], ["b"])


def test_whom_the_selected_follow_is_known_where_it_is_valid(tmp_path: Path) -> None:
    projects(tmp_path, "first")
    a_project(tmp_path, "second", files={"pipelines/second.yml": PIPELINE.format(name="second", source="../derived/first")})
    loaded = load_valid(Wanted(root=tmp_path, names=("second",)))
    assert (served(loaded), [spec.name for spec in loaded.others]) == (["second"], ["first"])
    assert load_valid(Wanted(root=tmp_path)).others == ()
    (tmp_path / "transformers/first.sql").write_text("SELECT {{ var.nothing }} FROM <SRC>")
    assert load_valid(Wanted(root=tmp_path, names=("second",))).others == ()


def test_an_invalid_one_beside_a_tag(tmp_path: Path) -> None:
    a_project(tmp_path, "a")
    projects(tmp_path, "c", b=BROKEN)
    with (tmp_path / "pipelines/a.yml").open("a") as file:
        file.write("tags: [hourly]\n")
    with (tmp_path / "pipelines/b.yml").open("a") as file:
        file.write("tags: [hourly]\n")
    loaded = load_valid(Wanted(root=tmp_path, tags=("hourly",)))
    assert (served(loaded), list(loaded.invalid)) == (["a"], ["b"])


class Files:
    """Files that change, and a look at them as the loop has it."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted, self.loaded = wanted, load_valid(wanted)
        self.reloading = Reloading(wanted, every_seconds=2)
        self.steady = 0.0

    def write(self, file: str, text: str) -> None:
        path = self.wanted.root / file
        path.write_text(text)
        # Two saves may have one time where the clock's steps are long.
        os.utime(path, ns=(0, int(self.steady * 10**9)))

    def look(self) -> Loaded | FreshetError | None:
        """Look until the files were taken over, or refused, or are at rest."""
        for _ in range(4):
            self.steady += 2
            found = self.reloading.look(self.loaded, self.steady)
            thread = self.reloading._aside._thread
            if thread is not None:
                thread.join()
            if isinstance(found, Loaded):
                self.loaded = found
            if found is not None:
                return found
        return None


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(projects(tmp_path, "a", "b"))


def test_files_that_do_not_change_are_not_loaded_anew(files: Files, loads: list[tuple[str, ...]]) -> None:
    assert files.look() is None
    assert loads == []


def test_what_is_saved_is_taken_over_once_it_rests(files: Files) -> None:
    files.look()
    for amount in (0, 1):
        files.write("transformers/a.sql", f"SELECT id, amount, updated_at FROM <SRC> WHERE amount > {amount}\n")
        files.steady += 2
        assert files.reloading.look(files.loaded, files.steady) is None
        assert files.reloading._aside._thread is None, "half of a deployment may be there"
    assert isinstance(files.look(), Loaded)
    assert files.look() is None
    a_project(files.wanted.root, "c")
    assert isinstance(files.look(), Loaded)
    assert served(files.loaded) == ["a", "b", "c"]
    (files.wanted.root / "pipelines/b.yml").unlink()
    assert isinstance(files.look(), Loaded)
    assert served(files.loaded) == ["a", "c"]


def test_what_is_invalid_is_refused_once_and_that_of_before_served_on(files: Files) -> None:
    before = files.loaded
    files.write("pipelines/a.yml", BROKEN)
    found = files.look()
    assert isinstance(found, SpecError)
    assert {problem.file for problem in found.problems} == {"pipelines/a.yml"}
    assert files.reloading.shown() is not None
    assert files.look() is None
    assert files.loaded is before
    a_project(files.wanted.root, "a")
    assert isinstance(files.look(), Loaded)
    assert files.reloading.shown() is None


def test_a_new_pipeline_that_is_invalid_keeps_no_other_from_changing(files: Files) -> None:
    files.write("pipelines/c.yml", BROKEN)
    files.write("pipelines/a.yml", (files.wanted.root / "pipelines/a.yml").read_text() + "owner: me\n")
    assert isinstance(files.look(), Loaded)
    assert list(files.loaded.invalid) == ["c"]
    assert [spec.owner for spec in files.loaded.project.pipelines] == ["me", ""]
    files.write("pipelines/b.yml", (files.wanted.root / "pipelines/b.yml").read_text() + "owner: you\n")
    assert isinstance(files.look(), Loaded), "c was never served, and is invalid still"


def test_python_files_that_are_not_as_they_were_loaded(tmp_path: Path) -> None:
    wanted = projects(tmp_path, "a")
    (tmp_path / "transformers/step.py").write_text("x = 1\n")
    loaded = load_valid(wanted)
    assert loaded.is_as_loaded(tmp_path)
    (tmp_path / "transformers/a.sql").write_text("SELECT 1")
    assert loaded.is_as_loaded(tmp_path), "SQL was read with the project"
    (tmp_path / "transformers/lib").mkdir()
    (tmp_path / "transformers/lib/new.py").write_text("y = 1\n")
    assert not loaded.is_as_loaded(tmp_path)
