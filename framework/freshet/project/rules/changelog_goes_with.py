"""What a pipeline of a changelog cannot do: everything that would make of an event something else than it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from freshet.changelog.declared import Changelog
from freshet.changelog.fields import EVENT, event_type
from freshet.changelog.layout import Keeps
from freshet.changelog.reference import KafkaOffset
from freshet.hudi.keys import options
from freshet.problems import Problems
from freshet.project.model.backup import BackupSpec
from freshet.project.model.checks import CheckSpec, FreshnessRule, MalformedRule, SqlRule, kind_of
from freshet.project.model.files import WITH_SCHEMA, FilesSpec
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import SourceSpec, TableSpec
from freshet.project.model.steps import Operation, WriteSpec, WriteStrategy
from freshet.project.rules.changelog import PlaceOf
from freshet.project.shape.files import Settings
from freshet.project.syntax.ddl import Setting
from freshet.project.syntax.files import Place
from freshet.types.columns import Column

_RAW = "Let another pipeline read the target incrementally, where not _event_deleted."


def keeps_of(settings: Settings | None) -> Keeps:
    """Return what the target of a changelog keeps, by ``write.strategy``.

    Args:
        settings: The pipeline's; None where they cannot be read.
    """
    declared = settings.write if settings is not None else None
    kept: dict[str, Keeps] = {"history": "history", "append": "events"}
    return kept.get(declared.strategy, "newest") if declared is not None else "newest"


def written_by(table: TableSpec, keeps: Keeps) -> WriteSpec:
    """Return how a changelog is written: into a table that it owns.

    Args:
        table: The target, with the columns that freshet keeps.
        keeps: What of the changelog it keeps.
    """
    strategies: dict[Keeps, WriteStrategy] = {"newest": "reference_key", "history": "history", "events": "append"}
    return WriteSpec(strategy=strategies[keeps], columns=tuple(column.name for column in table.columns))


def of_log(main: SourceSpec, log: Changelog | None, backup: BackupSpec | None) -> SourceSpec:
    """Return the main source of a changelog, with the backup that is loaded before it."""
    if isinstance(main, FilesSpec) and log is not None and log.is_typed:
        main = replace(main, columns=(*log.layout.columns, Column(name=EVENT, type=event_type())))
    return replace(main, changelog=log, bootstrap=backup)


def check_goes_with(
    settings: Settings,
    main: SourceSpec | None,
    operation: Operation,
    concurrency: str,
    incremental_format: Setting | None,
    place: PlaceOf,
    problems: Problems,
) -> None:
    """Report what does not go with a changelog.

    Args:
        settings: The pipeline's.
        main: The main source; None where that cannot be read.
        operation: Hudi's write operation.
        concurrency: Hudi's concurrency mode.
        incremental_format: How an increment of a table is read, where that is said.
        place: Gives the place of a path of keys.
        problems: Receives NOT_SUPPORTED and CONFLICTING_SETTING.
    """
    for path, code, said, hint in _wrong(settings, operation, concurrency):
        at = place(*path)
        problems.add(at.file, at.line, code, said, hint)
    order = main.changelog.source.reference if main is not None and main.changelog is not None else None
    if isinstance(order, KafkaOffset) and isinstance(main, KafkaSpec) and (main.pattern or len(main.topics) > 1):
        at = place("source", "changelog", "reference_key")
        said = "Offsets of two topics have no order among each other, and a key may be in both."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", said, "Order by columns of the row, or read one topic.")
    if isinstance(order, KafkaOffset) and isinstance(main, FilesSpec):
        at = place("source", "changelog", "reference_key")
        said = "Lines of files have no offsets."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", said, "Order by columns of the row, or by what the events tell.")
    log = main.changelog if main is not None else None
    if isinstance(main, FilesSpec) and main.format in WITH_SCHEMA and log is not None and not log.is_typed:
        at = place("source", "files", "format")
        said = f"Files of {main.format} hold rows with _event, and {log.adapter} writes messages."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", said, "Write 'adapter: freshet', or 'format: json'.")
    if incremental_format is not None and incremental_format.value.lower() == "cdc":
        said = "A row that is deleted from a table of events says nothing of the target's rows."
        hint = f"Remove {options.INCREMENTAL_FORMAT}, or write latest_state."
        problems.add(incremental_format.file, incremental_format.line, "CONFLICTING_SETTING", said, hint)


def check_checks(checks: Iterable[CheckSpec], at: Place, problems: Problems) -> None:
    """Report checks of single rows: an event is none, of a delete only the key counts, and of a partial one a few columns.

    Args:
        checks: The pipeline's.
        at: Where they stand.
        problems: Receives NOT_SUPPORTED.
    """
    for check in checks:
        rule = check.rule
        of_table = isinstance(rule, SqlRule) and rule.scope != "batch"
        if not of_table and not isinstance(rule, MalformedRule | FreshnessRule):
            said = f"checks.{check.name}: '{kind_of(rule)}' would be asked of events, of which a delete has its key alone."
            hint = (
                "Write it as 'sql' over <TABLE_NAME> 'where not _event_deleted', or check it in the pipeline that reads this."
            )
            problems.add(at.file, check.line, "NOT_SUPPORTED", said, hint)


def _wrong(settings: Settings, operation: Operation, concurrency: str) -> Iterator[tuple[tuple[str, ...], str, str, str]]:
    if settings.transform:
        said = "A step before the merge would change events: of a delete only the key counts, of a partial one a few columns."
        yield ("transform",), "NOT_SUPPORTED", f"A changelog takes no transform. {said}", _RAW
    if settings.inputs:
        yield ("inputs",), "NOT_SUPPORTED", "A changelog takes no inputs: nothing is joined before the merge.", _RAW
    if settings.write is not None and keeps_of(settings) == "newest":
        said = "A changelog is merged by its reference keys, whole rows or by the groups of source.changelog."
        hint = "Remove 'write:', or keep each version by 'strategy: history', or each event by 'strategy: append'."
        yield ("write",), "CONFLICTING_SETTING", said, hint
    elif settings.write is not None:
        for key in sorted(settings.write.model_fields_set - {"strategy"}):
            said = f"write.{key} says nothing of the strategy {settings.write.strategy}, which writes whole rows."
            yield ("write", key), "CONFLICTING_SETTING", said, "Remove it."
    if settings.backfill is not None:
        said = "A changelog takes no backfill: a range of event times is a part of what made a row."
        yield (
            ("backfill",),
            "NOT_SUPPORTED",
            said,
            "Remove 'backfill:'; 'freshet checkpoint set' reads events again, without harm.",
        )
    if settings.exactness is not None:
        yield ("exactness",), "CONFLICTING_SETTING", "'exactness' is of Python steps, and there are none.", "Remove it."
    if settings.schema_contract != "nothing":
        said = "An event has the columns of the DDL, and adds none."
        yield ("schema_contract",), "CONFLICTING_SETTING", said, "Remove 'schema_contract:'."
    if operation != "upsert":
        said = f"A changelog is merged into rows that stand, and {operation} changes none of them."
        yield ("hoodie",), "CONFLICTING_SETTING", said, f"Remove {options.OPERATION}, or write upsert."
    if concurrency == "NON_BLOCKING_CONCURRENCY_CONTROL":
        said = (
            f"A changelog is merged with the target as it stands, and by {concurrency} another writer may change it meanwhile."
        )
        hint = f"Write '{options.CONCURRENCY}: OPTIMISTIC_CONCURRENCY_CONTROL'."
        yield ("hoodie",), "CONFLICTING_SETTING", said, hint
