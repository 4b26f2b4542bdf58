"""``freshet migrate``: a table that its files declare otherwise gets a successor, which then takes its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from freshet.cli.options import load, project_options, wait_option
from freshet.cli.output import Output
from freshet.cli.progress import progress, reporting_events
from freshet.errors import Exit, SpecError
from freshet.hudi.timeline import TimelineState
from freshet.migration.differences import size_of
from freshet.migration.files import ReaderNote, reader_notes
from freshet.migration.prepare import Migration, notices_of, prepare
from freshet.migration.run import migrate as migrate_table
from freshet.plan.migrated import note_of, shown_before, verdict_of
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.sources.hudi.position import HUDI


@click.command(short_help="Give a table that its files declare otherwise a successor, and switch to it.")
@click.argument("name")
@click.option("--dry-run", is_flag=True, help="Only show what differs and what would be done.")
@click.option("--copy", is_flag=True, help="Copy the rows that stand, with their checkpoint: the source no longer has all.")
@click.option("--rename", "renames", multiple=True, metavar="OLD=NEW", help="A column's new name; repeatable.")
@click.option("--accept-differences", is_flag=True, help="Switch though the new table's rows are not those of the old one.")
@click.option("--anyway", is_flag=True, help="Make the table anew though nothing differs.")
@click.option("--abandon", "gives_up", is_flag=True, help="Delete the new table, before it was compared and switched to.")
@click.option("--drop-old", "drops", is_flag=True, help="Delete the old table, after the switch.")
@click.option("--yes", is_flag=True, help="With --drop-old: though it was written after the load, or rows wait in quarantine.")
@wait_option
@project_options
@reporting_events
def migrate(
    output: Output,
    name: str,
    dry_run: bool,
    copy: bool,
    renames: tuple[str, ...],
    accept_differences: bool,
    anyway: bool,
    gives_up: bool,
    drops: bool,
    yes: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Give a table a successor where its files declare what it cannot become, and switch to it.

    Write the DDL and the SQL as they shall be first: another record key, partitioning, ordering field, table type or index,
    a column renamed, dropped or of another type, CDC. Runs are refused from then on. This command loads a new table beside
    the old one (its path with __m2 behind it), compares the rows, and puts LOCATION into the DDL. The new table goes on from
    the position of the source that its load has read. The old one stays until --drop-old. Killed anywhere, the same command
    goes on. It asks nothing.

    \b
    Examples:
      freshet migrate trip_earnings --dry-run
      freshet migrate trip_earnings
      freshet migrate trip_earnings --copy --rename fare=fare_amount
      freshet migrate trip_earnings --drop-old
    """
    if gives_up and drops:
        raise click.UsageError("Say --abandon, before the switch, or --drop-old, after it.")
    project = load(root, env, overrides, (name,))
    spec, state = project.pipelines[0], TimelineState()
    if gives_up or drops:
        return _delete(output, project, load(root, env, overrides).pipelines if drops else (spec,), state, drops, yes)

    def reload(texts: Mapping[str, str]) -> Project:
        return load(root, env, overrides, (name,), instead=texts)

    found = prepare(project, state, reload, copy=copy, anyway=anyway, renames=_renames(renames))
    if found is None:
        return _nothing(output, spec, state)
    readers = _readers(lambda: load(root, env, overrides), found, project.root)
    if dry_run:
        _show(output, found, readers, state)
        return Exit.OK
    with progress(output) as listen:
        done = migrate_table(found, project.root, state, listen, accept_differences)
    lines = [f"{name}: {done.before} -> {done.after}: {done.compared}"]
    lines.append(
        f"{spec.target.file} names the new table{' now' if done.switched else ''}. Commit it; where it is deployed, "
        f"freshet migrate {name} makes the table of that environment."
    )
    lines += [reader.in_words() for reader in readers]
    lines.append(f"The old table stands until: freshet migrate {name} --drop-old")
    output.result("\n".join(lines), {**done.as_json(), "readers": [vars(reader) for reader in readers]})
    return Exit.OK


def _delete(
    output: Output,
    project: Project,
    every: tuple[PipelineSpec, ...],
    state: TimelineState,
    drops: bool,
    yes: bool,
) -> Exit:
    from freshet.migration.drop import abandon, drop_old

    spec = project.pipelines[0]
    with progress(output) as listen:
        done = drop_old(spec, every, project.root, state, listen, yes) if drops else abandon(spec, state, listen)
    output.result(
        f"{spec.name}: {'deleted ' + ', '.join(done) if done else 'nothing to delete'}",
        {"pipeline": spec.name, "deleted": list(done)},
    )
    return Exit.OK


def _nothing(output: Output, spec: PipelineSpec, state: TimelineState) -> Exit:
    note = note_of(state.table(spec.target.ref))
    words = f"{spec.name}: nothing to do: {spec.target.ref.path} is as its files declare it, or the next run makes it so"
    if note is not None:
        words += f"; it has taken the place of {shown_before(spec, note)}"
    output.result(words, {"pipeline": spec.name, "switched": False, "before": shown_before(spec, note) if note else None})
    return Exit.OK


def _show(output: Output, found: Migration, readers: tuple[ReaderNote, ...], state: TimelineState) -> None:
    name, new = found.spec.name, found.after.target.ref
    plan = None if found.loaded else found.plan(state)
    notices = notices_of(found, plan) if plan else ()
    of_table = found.after.source.kind == HUDI
    read = found.old if found.copy else state.table(found.after.source.table) if of_table else None
    rows, size = size_of(read) if read is not None else (0, 0)
    source = found.after.source.table.path
    how = f"copy the rows of {found.old.ref.path}" if found.copy else f"compute it from all of {source}"
    compared = verdict_of(state.table(new))
    steps = [
        f"{how}: about {rows:,} rows, {_bytes(size)}" if plan else "the new table is loaded already",
        f"both were compared: {compared.words}" if compared else "compare both tables, and end with 7 where they differ",
        f"put LOCATION '{found.location}' into {found.spec.target.file}"
        if found.location
        else f"{found.spec.target.file} names the new table already",
    ]
    lines = [
        name,
        f"  from  {found.old.ref.path}",
        f"  to    {new.path}",
        *(f"  {difference.code}: {difference.words}" for difference in found.differences),
        *(f"  {number}. {words}" for number, words in enumerate(steps, 1)),
        *(f"  notice  {notice.code}: {notice.message}" for notice in notices),
        *(f"  reader  {reader.in_words()}" for reader in readers),
    ]
    output.result(
        "\n".join(lines),
        {
            "pipeline": name,
            "before": found.old.ref.path,
            "after": new.path,
            "how": "copy" if found.copy else "load",
            "loaded": found.loaded,
            "differences": [vars(difference) for difference in found.differences],
            "location": found.location,
            "ddl": found.spec.target.file,
            "rows": rows,
            "bytes": size,
            "upto": plan.window.end_inclusive if plan else None,
            "notices": [vars(notice) for notice in notices],
            "readers": [vars(reader) for reader in readers],
        },
    )


def _bytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def _readers(everything: Callable[[], Project], found: Migration, root: str) -> tuple[ReaderNote, ...]:
    try:
        return reader_notes(root, everything().pipelines, found.old.ref.path)
    except SpecError:
        # What is wrong with another pipeline keeps nobody from migrating this one.
        unknown = "mend the project's files, and see how"
        return tuple(
            ReaderNote(name=reader.name, edit=unknown, command=f"freshet validate; freshet migrate {found.spec.name} --dry-run")
            for reader in found.spec.readers
        )


def _renames(texts: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        old, equals, new = text.partition("=")
        if not (old and equals and new):
            raise click.BadParameter(f"{text!r} is not OLD=NEW.", param_hint="--rename")
        found[old] = new
    return found
