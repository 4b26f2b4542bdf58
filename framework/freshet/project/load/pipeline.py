"""A pipeline from its draft: everything about it checked, and frozen as a spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from freshet.changelog.declared import of_changelog
from freshet.errors import Problem
from freshet.hudi.keys import options
from freshet.hudi.keys.kafka_keys import CLIENT_KEYS
from freshet.problems import Problems
from freshet.project.load import layers
from freshet.project.load.draft import Draft, ddl_file, named_files, target_of
from freshet.project.model import logic
from freshet.project.model.files import WITH_SCHEMA, FilesSpec
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.paths import places_before, quarantine_of
from freshet.project.model.pipeline import PipelineSpec, SourceSpec, TableRef
from freshet.project.model.readers import Reader
from freshet.project.model.records import RecordsSpec, of_records
from freshet.project.model.steps import Accepted
from freshet.project.rules import files as files_rules
from freshet.project.rules import source, target
from freshet.project.rules.backfill import read_backfill
from freshet.project.rules.backup import read_backup
from freshet.project.rules.changelog import check_said, read_changelog, reads_changelog
from freshet.project.rules.changelog_goes_with import check_checks, check_goes_with, keeps_of, of_log, written_by
from freshet.project.rules.changelog_table import kept_settings, with_reserved
from freshet.project.rules.checks import read_checks
from freshet.project.rules.column_types import TypeRules
from freshet.project.rules.event_times import read_event_times
from freshet.project.rules.fingerprint import fingerprint_of
from freshet.project.rules.hoodie import agreed, check_hoodie
from freshet.project.rules.index import IndexRules
from freshet.project.rules.inputs import read_inputs
from freshet.project.rules.kafka import check_unread, read_topics, reads_topics
from freshet.project.rules.kafka_key import with_key
from freshet.project.rules.kafka_schema import refuse_schemas_of_events, with_schema
from freshet.project.rules.names import NamesKept
from freshet.project.rules.records import check_records, with_columns
from freshet.project.rules.settings import check_spark
from freshet.project.rules.shares import Shares
from freshet.project.rules.sync import check_sync
from freshet.project.rules.transforms import read_chain
from freshet.project.rules.write import check_ordering, check_overwrites, read_write
from freshet.project.shape.files import validate_settings
from freshet.project.shape.strategies import seconds_of
from freshet.project.syntax.ddl import parse_ddl
from freshet.project.syntax.files import ProjectFiles
from freshet.project.syntax.template import text_of
from freshet.project.syntax.yaml_nodes import MapNode, ScalarNode, find_node


def build(
    draft: Draft,
    files: ProjectFiles,
    targets: Mapping[str, str],
    co_writers: tuple[str, ...],
    readers: tuple[Reader, ...],
    shares: Shares,
    problems: Problems,
) -> PipelineSpec | None:
    """Check everything about a pipeline and freeze it.

    Args:
        draft: Its draft.
        files: The project's files.
        targets: Paths of the project's own tables, by name.
        co_writers: Names of the other pipelines that write the same table.
        readers: The pipelines that read it.
        shares: Who shares which HBase cluster.
        problems: Receives what is wrong.

    Returns:
        The pipeline, or None where something is wrong with it.
    """
    before = len(problems)
    spec = _built(draft, files, targets, co_writers, readers, shares, problems)
    problems.found[before:] = _without_knock_on(problems.found[before:], draft.tree)
    return spec


def _without_knock_on(found: Sequence[Problem], tree: MapNode) -> list[Problem]:
    """Return problems without those of a missing key that stands there without a value, which is a problem of its own."""
    hoodie = find_node(tree, "hoodie")
    entries = hoodie.entries if isinstance(hoodie, MapNode) else {}
    empty = [key for key, node in entries.items() if isinstance(node, ScalarNode) and node.value is None]
    return [one for one in found if not (one.code.startswith("MISSING_") and any(f"{key}:" in one.hint for key in empty))]


def _built(
    draft: Draft,
    files: ProjectFiles,
    targets: Mapping[str, str],
    co_writers: tuple[str, ...],
    readers: tuple[Reader, ...],
    shares: Shares,
    problems: Problems,
) -> PipelineSpec | None:
    before = len(problems)
    settings = validate_settings(layers.plain_settings(draft.tree), problems, lambda path: draft.place(*path))
    check_spark(layers.text_settings(draft.tree, "spark"), problems)
    hoodie = layers.text_settings(draft.tree, "hoodie")
    check_hoodie(hoodie, problems)
    chain = read_chain(named_files(draft.tree), files, draft.context, problems)
    described = settings.source if settings is not None else None
    events = reads_changelog(draft.tree)
    check_said(settings, draft.place, problems)
    if files_rules.reads_files(hoodie):
        main: SourceSpec | None = files_rules.read_files(hoodie, described, files.root, draft.place, draft.secrets, problems)
    elif reads_topics(hoodie, described):
        files_rules.check_unread(hoodie, described, draft.place, problems)
        main = read_topics(hoodie, described, draft.place, draft.secrets, problems)
    else:
        files_rules.check_unread(hoodie, None, draft.place, problems)
        check_unread(hoodie, described, draft.place, problems)
        main = source.read_source(hoodie, draft.place("hoodie"), files.root, targets, draft.warehouse, problems)
    declared = settings.inputs if settings is not None else {}
    inputs = read_inputs(
        {name: (item, draft.place("inputs", name)) for name, item in declared.items()},
        main.table if main else None,
        targets,
        draft.warehouse,
        problems,
    )
    at_ddl = draft.place("ddl")
    ddl = parse_ddl(draft.ddl_text, ddl_file(draft.tree), problems) if draft.ddl_text is not None else None
    if ddl is None:
        return None
    values = agreed(hoodie, ddl, problems)
    log = None
    if events:
        refuse_schemas_of_events(hoodie, described, draft.place, problems)
        typed = main.format in WITH_SCHEMA if isinstance(main, FilesSpec) else not isinstance(main, KafkaSpec)
        log = read_changelog(described, ddl, values, draft.place, problems, is_typed=typed, keeps=keeps_of(settings))
        ddl, values = with_reserved(ddl, log, keeps_of(settings)), kept_settings(ddl, values, log)
    backup = read_backup(described, main, log, files.root, draft.place, problems)
    rules = target.TargetRules(ddl, values, at_ddl, problems)
    ref = target_of(ddl, draft, files.root, problems)
    table = rules.table(ref or TableRef(ddl.name, ""))
    operation = rules.operation(reads_partitions=any(item.read == "affected_partitions" for item in inputs))
    stable = settings.partition_is_stable if settings is not None else True
    spark = {key: setting.value for key, setting in layers.text_settings(draft.tree, "spark").items()}
    check_sync(values, spark, problems)
    index = IndexRules(ddl, values, at_ddl, problems).index(draft.name, table, shares, spark, partition_is_stable=stable)
    TypeRules(ddl, values, at_ddl, problems).types(table, index)
    mode = rules.concurrency(table, index, operation)
    write = read_write(settings.write if settings and not events else None, table, operation, mode, draft.place, problems)
    if events and settings is not None:
        main, write = of_log(main, log, backup) if main else None, written_by(table, keeps_of(settings))
        check_goes_with(settings, main, operation, mode, hoodie.get(options.INCREMENTAL_FORMAT), draft.place, problems)
    check_ordering(write, table, co_writers, draft.place("write"), problems)
    names = tuple(item.name for item in inputs)
    if isinstance(main, RecordsSpec) and not events:
        main = with_columns(main, described, table, draft.place, problems)
        if isinstance(main, KafkaSpec):
            main = with_schema(main, hoodie, described, draft.place, files, draft.secrets, problems)
            main = with_key(main, described, draft.place, draft.secrets, problems)
        if isinstance(main, FilesSpec):
            files_rules.check_columns(main, draft.place, problems)
        event_time = settings.backfill.event_time if settings is not None and settings.backfill is not None else ""
        check_records(main, table, inputs, write, [step for step, _ in chain], draft.place, problems, event_time=event_time)
    backfill = read_backfill(settings.backfill if settings else None, table, names, write, mode, draft.place, problems)
    checks = read_checks(
        settings.checks if settings else (),
        table,
        files,
        targets,
        draft.warehouse,
        draft.place,
        problems,
        operation,
        write.strategy,
    )
    if events:
        check_checks(checks, draft.place("checks"), problems)
    timed = read_event_times(settings, table, operation, write, draft.place, problems, is_changelog=events)
    names_kept = NamesKept(draft.secrets, draft.context, draft.tree, files, problems)
    names_kept.check_ddl(ddl)
    names_kept.check_settings()
    if settings is not None and settings.schema_contract != "nothing":
        names_kept.check_columns(step for step, _ in chain)
    if index.is_global:
        check_overwrites(operation, write, backfill, index, draft.place("hoodie"), problems, partition_is_stable=stable)
    if len(problems) > before or settings is None or main is None or ref is None:
        return None
    own = target.OWN_KEYS | source.OWN_KEYS | CLIENT_KEYS.keys()
    write_options = {
        key: value.value
        for key, value in sorted(values.items())
        if key not in own and not key.startswith(options.STREAMER_PREFIX)
    }
    columns = [(c.name, str(c.type), c.nullable) for c in table.columns]
    written = [write.strategy, write.columns, write.insert_missing, write.changed_columns, write.ordering]
    variables = {name: text_of(value) for name, value in (draft.context.var or {}).items()}
    matters = {
        ddl.file: [table.record_key, table.ordering_field, table.partition_by, columns],
        **{
            f"{draft.file} ({matter})": value
            for matter, value in (
                ("source", [main.table.name, main.incremental_format, *of_records(main), *of_changelog(main.changelog)]),
                ("inputs", logic.of_inputs(inputs)),
                ("write", [operation, *written]),
                ("checks", logic.of_checks(checks)),
                ("vars", variables if any(step.kind == "python" for step, _ in chain) else {}),
                ("schema_contract", settings.schema_contract),
                ("start and end", draft.windowed),
            )
        },
    }
    kept = (
        ref.path,
        *places_before(ref.path),
        main.table.path,
        *(item.table.path for item in inputs),
        *(index.parameters.values() if index.hbase else ()),
    )
    spec = PipelineSpec(
        name=draft.name,
        file=draft.file,
        owner=settings.owner,
        description=settings.description,
        tags=tuple(settings.tags),
        schedule=settings.schedule,
        schedule_zone=settings.schedule_zone,
        interval_seconds=seconds_of(settings.continuous.min_interval) if settings.continuous else None,
        target=table,
        source=main,
        inputs=inputs,
        transform=tuple(step for step, _ in chain),
        operation=operation,
        write=write,
        backfill=backfill,
        co_writers=co_writers,
        readers=readers,
        index=index,
        checks=checks,
        evolution=settings.schema_contract,
        quarantine=quarantine_of(draft.name, ref),
        write_options=write_options,
        spark_conf=dict(sorted(settings.spark.items())),
        variables=variables,
        lease_wait_seconds=settings.lease.wait_seconds,
        lease_across_machines=settings.lease.across_machines,
        limits=settings.run.limits(),
        event_times=timed,
        slo=settings.slo.promised(),
        budget=settings.budget.spec(),
        metrics=settings.metrics.ways_out(files.root),
        lineage=settings.lineage.ways_out(files.root),
        fingerprint="",
        accepts=tuple(Accepted(one.code, one.why, one.of or "") for one in settings.accepts),
        row_by_row=settings.exactness == "row_by_row",
        logic=logic.logic_of(files.root, chain, matters, draft.secrets),
        hidden={text: shown for text in kept if (shown := draft.secrets.hidden(text)) != text},
    )
    return replace(spec, fingerprint=fingerprint_of(spec, [text for _, text in chain], files.root, draft.secrets))
