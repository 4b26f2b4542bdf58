"""A changelog as the main source: what the YAML says of it, as the pipeline's specification, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from freshet.changelog.adapter import Source as Told
from freshet.changelog.debezium import Debezium
from freshet.changelog.declared import Changelog, adapter_of
from freshet.changelog.layout import Keeps, Layout
from freshet.changelog.values import PLAIN, Coding
from freshet.hudi.keys import options
from freshet.problems import Problems, did_you_mean
from freshet.project.rules.changelog_table import check_table, named_columns
from freshet.project.rules.reference_key import read_reference
from freshet.project.shape import changelog as shape
from freshet.project.shape.files import Settings
from freshet.project.shape.source import Source
from freshet.project.syntax.ddl import DdlTable, Setting
from freshet.project.syntax.files import Place
from freshet.project.syntax.yaml_nodes import MapNode, ScalarNode, find_node
from freshet.types.columns import PLAIN_NAME

PlaceOf = Callable[..., Place]
_OF_DEBEZIUM = ("unwrapped", "with_schema", "identity", "unavailable")


def reads_changelog(tree: MapNode) -> bool:
    """Say whether the main source is a changelog, by a pipeline's settings, of which anything else may be wrong."""
    node = find_node(tree, "source", "format")
    return isinstance(node, ScalarNode) and node.text == "changelog"


def check_said(settings: Settings | None, place: PlaceOf, problems: Problems) -> None:
    """Report what stands under ``source:`` and does not go with the other things there, and a chain that is missing.

    Args:
        settings: The pipeline's; None where they cannot be read, which is reported.
        place: Gives the place of a path of keys.
        problems: Receives MISSING_KEY and CONFLICTING_SETTING.
    """
    if settings is None:
        return
    declared = settings.source
    if not settings.transform and (declared is None or declared.format != "changelog"):
        at = place("transform")
        hint = "Write 'transform: transformers/<name>.sql' or a list."
        problems.add(at.file, at.line, "MISSING_KEY", "The key 'transform' is missing.", hint)
    if declared is None:
        return
    at = place("source", "changelog")
    if declared.format != "changelog":
        if declared.changelog is not None:
            said = f"source.changelog is of changelogs, and the format is {declared.format}."
            problems.add(at.file, at.line, "CONFLICTING_SETTING", said, "Write 'format: changelog', or remove it.")
        return
    if declared.changelog is None:
        said = "The format is changelog, and nothing says which one."
        problems.add(at.file, at.line, "MISSING_KEY", said, "Write 'changelog: {adapter: debezium, ...}' under 'source:'.")
    for key in ("columns", "tombstones", "mode", "key"):
        if key in declared.model_fields_set:
            at = place("source", key)
            hint = {
                "columns": "Remove it: an event has the columns of the target's DDL.",
                "tombstones": "Remove it; Debezium's and plain ones have 'changelog: {tombstones: ...}'.",
                "mode": "Remove it, or write 'changelog: {strict: true}'.",
                "key": "Remove it: the adapter reads the keys.",
            }[key]
            problems.add(at.file, at.line, "CONFLICTING_SETTING", f"source.{key} is of records, and events are read.", hint)


def read_changelog(
    declared: Source | None,
    ddl: DdlTable,
    values: Mapping[str, Setting],
    place: PlaceOf,
    problems: Problems,
    *,
    is_typed: bool,
    keeps: Keeps = "newest",
) -> Changelog | None:
    """Read how the events of the main source become rows of the target.

    Args:
        declared: What stands under ``source:``.
        ddl: The target, without the columns that freshet keeps.
        values: One agreed value per Hudi key.
        place: Gives the place of a path of keys.
        problems: Receives BAD_VALUE, BAD_NAME, CONFLICTING_SETTING, MISSING_KEY, NOT_SUPPORTED, RESERVED_COLUMN and
            UNKNOWN_COLUMN.
        is_typed: True where the source is a table, whose events in freshet's own form have their types.
        keeps: What of the changelog the target keeps.

    Returns:
        None where it cannot be told, which is reported here or by the rules of the target.
    """
    said = declared.changelog if declared is not None else None
    if said is None:
        return None
    before = len(problems)
    key = named_columns(values.get(options.RECORD_KEY), ddl)
    check_table(ddl, values, key, keeps, problems)
    _check_adapter(said, place, problems)
    if keeps == "events" and "equal_reference_keys" in said.model_fields_set:
        at = place("source", "changelog", "equal_reference_keys")
        words = "source.changelog.equal_reference_keys chooses one of two changes, and a table of events keeps both."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", words, "Remove it.")
    groups = dict(_groups(said, ddl, place, problems))
    reference = read_reference(said, ddl.columns, place, problems)
    for values_of in (said.values, *said.values_of.values()):
        _check_zone(values_of, place("source", "changelog"), problems)
    codings = {name: _coding(one) for name, one in _values_of(said, ddl, place, problems)}
    if len(problems) > before or reference is None or not key:
        return None
    columns = tuple(replace(c, nullable=False) if c.name in key else c for c in ddl.columns)
    at = place("source", "changelog")
    try:
        log = Changelog(
            adapter=said.adapter,
            source=Told(
                layout=Layout(key=key, columns=columns, groups=groups, equal=said.equal_reference_keys, keeps=keeps),
                reference=reference,
                coding=_coding(said.values) if said.values is not None else PLAIN,
                codings=codings,
                data_center=said.data_center or "",
                strict=said.strict,
            ),
            connector=_connector(said),
            tombstones=said.tombstones or "delete",
            is_typed=is_typed and said.adapter == "freshet",
        )
        if not log.is_typed:
            adapter_of(log)
    except ValueError as wrong:
        hint = "See docs/concepts/changelog.md: Adapters, and Which change is newer."
        problems.add(at.file, at.line, "BAD_VALUE", f"source.changelog: {wrong}.", hint)
        return None
    return log


def _check_adapter(said: shape.Changelog, place: PlaceOf, problems: Problems) -> None:
    own = {"debezium": (*_OF_DEBEZIUM, "tombstones"), "plain": ("tombstones",)}.get(said.adapter, ())
    for key in (*_OF_DEBEZIUM, "tombstones"):
        if key in said.model_fields_set and key not in own:
            at = place("source", "changelog", key)
            hint = "Remove it."
            words = f"source.changelog.{key} says nothing of the adapter {said.adapter}."
            problems.add(at.file, at.line, "CONFLICTING_SETTING", words, hint)


def _groups(said: shape.Changelog, ddl: DdlTable, place: PlaceOf, problems: Problems) -> Iterator[tuple[str, tuple[str, ...]]]:
    known = {column.name.lower(): column.name for column in ddl.columns}
    lower = [name.lower() for name in said.groups]
    for number, (name, members) in enumerate(said.groups.items()):
        at = place("source", "changelog", "groups", name)
        if not PLAIN_NAME.fullmatch(name) or name.lower() in lower[:number]:
            hint = "Use letters, digits and '_', no digit first, and each name once: it stands in the table's schema."
            problems.add(at.file, at.line, "BAD_NAME", f"'{name[:80]}' cannot be the name of a column group.", hint)
        for member in members:
            if member.lower() not in known:
                words = f"source.changelog.groups.{name[:80]}: {ddl.file} has no column '{member[:80]}'."
                problems.add(at.file, at.line, "UNKNOWN_COLUMN", words, did_you_mean(member, known.values()))
        yield name, tuple(known.get(member.lower(), member) for member in members)


def _values_of(said: shape.Changelog, ddl: DdlTable, place: PlaceOf, problems: Problems) -> Iterator[tuple[str, shape.Values]]:
    known = {column.name.lower(): column.name for column in ddl.columns}
    for name, values in said.values_of.items():
        if name.lower() in known:
            yield known[name.lower()], values
            continue
        at = place("source", "changelog", "values_of", name)
        words = f"source.changelog.values_of: {ddl.file} has no column '{name[:80]}'."
        problems.add(at.file, at.line, "UNKNOWN_COLUMN", words, did_you_mean(name, known.values()))


def _check_zone(values: shape.Values | None, at: Place, problems: Problems) -> None:
    try:
        ZoneInfo(values.zone if values is not None and values.zone else "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # Of a zone that nobody knows every time would go aside.
        problems.add(at.file, at.line, "BAD_VALUE", "source.changelog: there is no such zone.", "Write UTC, or Europe/Oslo.")


def _coding(values: shape.Values) -> Coding:
    return Coding(
        times=values.times or "",
        zone=values.zone or "",
        decimals=values.decimals,
        scale=-1 if values.scale is None else values.scale,
        binary=values.binary,
        unsigned=values.unsigned,
        texts=values.texts,
    )


def _connector(said: shape.Changelog) -> Debezium:
    default = Debezium()
    return Debezium(
        unwrapped=said.unwrapped,
        with_schema=said.with_schema,
        identity=said.identity,
        tombstones=said.tombstones or default.tombstones,
        unavailable=default.unavailable if said.unavailable is None else said.unavailable,
    )
