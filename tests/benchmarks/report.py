"""``make bench-report``: one page of plots and tables from the figures that ``make bench`` has kept."""

from __future__ import annotations

import base64
import html
import io
import json
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from tests.benchmarks.timing import RESULTS
from tests.benchmarks.tuning import AS_IT_IS

Figures = Mapping[str, Any]
_STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse}td,th{border-bottom:1px solid #ddd;padding:.2em .8em;text-align:right}
td:first-child,th:first-child{text-align:left}img{max-width:100%}pre{background:#f6f6f6;padding:.6em;white-space:pre-wrap}"""
_USED = (
    ("run time, s", "wall_seconds"),
    ("CPU, s", "cpu_seconds"),
    ("memory over time, GiB s", "gib_seconds"),
    ("read, GiB", "read_gib"),
    ("written, GiB", "written_gib"),
)


def write_page(results: Path) -> Path:
    """Write the page beside the figures.

    Args:
        results: Folder of the JSON files, one a part.

    Returns:
        The page.
    """
    sections = []
    for file in sorted(results.glob("*.json")):
        figures = json.loads(file.read_text(encoding="utf-8"))
        draw = _DRAWN.get(figures["part"])
        shown = draw(figures) if draw else ""
        taken = html.escape(json.dumps({**figures["taken"], "configuration": figures.get("configuration")}, indent=1))
        verdict = {True: "all bounds kept", False: "a bound was MISSED"}.get(figures.get("kept"), "no bound")
        sections.append(
            f"<h2>{html.escape(figures['part'])}: {verdict}</h2>{shown}"
            f"<details><summary>taken on and with</summary><pre>{taken}</pre></details>"
        )
    page = results / "report.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><title>freshet: how fast</title><style>{_STYLE}</style>"
        f"<h1>freshet: how fast</h1>{''.join(sections)}\n",
        encoding="utf-8",
    )
    return page


def _used(usage: Mapping[str, Sequence[Mapping[str, float]]], title: str) -> str:
    """Show what processes used, by name: median, and minimum and maximum as whiskers."""
    figure, both = plt.subplots(1, 2, figsize=(11, 0.5 * len(usage) + 1.5), layout="constrained")
    for axes, (label, key) in zip(both, _USED[:2], strict=True):
        _bars(axes, {name: [one[key] for one in found] for name, found in usage.items()}, label)
    figure.suptitle(title)
    rows = [
        [name, *(f"{statistics.median(one[key] for one in found):.2f}" for _, key in _USED)] for name, found in usage.items()
    ]
    return _image(figure) + _table(["median", *(label for label, _ in _USED)], rows)


def _bars(axes: Axes, values: Mapping[str, Sequence[float]], label: str) -> None:
    names = list(values)
    medians = [statistics.median(values[name]) for name in names]
    below = [median - min(values[name]) for name, median in zip(names, medians, strict=True)]
    above = [max(values[name]) - median for name, median in zip(names, medians, strict=True)]
    bars = axes.barh(names, medians, xerr=[below, above], color="#4477aa", ecolor="#222", capsize=3)
    axes.bar_label(bars, fmt="%.1f", padding=8)
    axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.margins(x=0.15)


def _lines(axes: Axes, series: Mapping[str, Mapping[int, Sequence[float]]], label: str) -> None:
    for name, points in series.items():
        sizes = sorted(points)
        axes.plot(sizes, [statistics.median(points[size]) for size in sizes], marker="o", label=name)
        axes.fill_between(sizes, [min(points[size]) for size in sizes], [max(points[size]) for size in sizes], alpha=0.15)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("rows of the table")
    axes.set_ylabel(label)
    axes.legend()


def _image(figure: Any) -> str:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110)
    plt.close(figure)
    return f'<p><img alt="" src="data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"></p>'


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    def line(cells: Iterable[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def _main_job(figures: Figures) -> str:
    figure, axes = plt.subplots(figsize=(9, 2.4), layout="constrained")
    _bars(axes, figures["seconds"], f"seconds, whole process; {figures['rows']:,} rows, 1% changed")
    return _image(figure)


def _compared(figures: Figures) -> str:
    return _used(figures["usage"], f"{figures['rows']:,} rows") + _table(
        ["incremental against recompute", "change, %"], figures["change_percent"].items()
    )


def _engines(figures: Figures) -> str:
    totals = sorted(figures["totals"].items(), key=lambda pair: pair[1])
    words = f"{figures['rows']:,} rows; {figures['rounds']} rounds, one compaction among them; whole processes"
    rows = [(name, f"{total:.1f}") for name, total in totals]
    return _used(figures["usage"], words) + _table(["all rounds", "seconds"], rows)


def _growth(figures: Figures) -> str:
    usage = figures["usage"]
    figure, both = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for axes, key, label in zip(both, ("wall_seconds", "written_gib"), ("seconds, whole process", "written, GiB"), strict=True):
        _lines(
            axes,
            {
                index: {int(rows): [one[key] for one in usage[rows][index]] for rows in usage}
                for index in next(iter(usage.values()))
            },
            label,
        )
    figure.suptitle(f"{figures['changed']:,} changed rows")
    return _image(figure) + _table(
        ["largest against smallest table, pair by pair", "times"],
        ((index, times["median"]) for index, times in figures["growth"].items()),
    )


def _index_load(figures: Figures) -> str:
    of = {int(name): found for name, found in figures.items() if name.isdigit()}
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    _lines(
        axes,
        {
            name: {rows: list(found[key].values()) for rows, found in of.items()}
            for name, key in (("read the table once", "read_seconds"), ("index by bulk load", "bulk_load_seconds"))
        },
        "seconds",
    )
    head = [
        "keys",
        "keys a second by bulk load",
        "times reading",
        "by Hudi's upsert, s",
        "times as long",
        "by its puts alone, s",
        "times as long",
    ]
    lines = [
        (
            f"{rows:,}",
            f"{rows / found['bulk_load_seconds']['median']:,.0f}",
            *(
                found[key]["median"] if key in found else ""
                for key in ("against_reading", "upsert_seconds", "ratio", "puts_seconds", "puts_ratio")
            ),
        )
        for rows, found in of.items()
    ]
    return _image(figure) + _table(head, lines)


def _index_upserts(figures: Figures) -> str:
    of = {int(name): found["upsert_seconds"] for name, found in figures.items() if name.isdigit()}
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    _lines(
        axes,
        {name: {rows: list(found[name].values()) for rows, found in of.items()} for name in next(iter(of.values()))},
        "seconds of an upsert of 1%",
    )
    return _image(figure)


def _spreads(figures: Figures) -> str:
    found = {name: value for name, value in figures.items() if isinstance(value, dict) and "median" in value}
    figure, axes = plt.subplots(figsize=(9, 0.32 * len(found) + 1), layout="constrained")
    _bars(axes, {name: [value["min"], value["median"], value["max"]] for name, value in found.items()}, "seconds")
    parts = (
        ("seconds of a run", "phases"),
        ("seconds of its start of Spark", "start"),
        ("seconds of its jobs", "spark"),
        ("Java's classes", "classes"),
    )
    return _image(figure) + "".join(_table([what, ""], figures[key].items()) for what, key in parts if key in figures)


def _tuning(figures: Figures) -> str:
    def row(case: str, way: str, times: str) -> tuple[str, ...]:
        usages = figures["cases"][case]["usage"][way]
        return (
            case,
            way,
            times,
            *(
                f"{statistics.median(usage[what] for usage in usages):.2f}"
                for what in ("wall_seconds", "cpu_seconds", "peak_gib")
            ),
        )

    lines = [
        line
        for case, found in figures["cases"].items()
        for line in (
            row(case, AS_IT_IS, ""),
            *(row(case, way, f"{times['median']:.2f}") for way, times in found["times"].items()),
        )
    ]
    return _table(["a run of", "taken back, or done instead", "times as long", "seconds", "CPU", "largest memory, GiB"], lines)


def _profiles(figures: Figures) -> str:
    found = {name: value for name, value in figures.items() if isinstance(value, dict) and "owners_percent" in value}
    tables = [
        _table([f"{name}: whose code, % of {one['samples']} samples", ""], one["owners_percent"].items())
        + _table([f"{name}: in which methods, %", ""], one["methods_percent"].items())
        for name, one in found.items()
    ]
    driver = [
        _table([f"{name}: in which module, % of {one['samples']} samples", ""], one["modules_percent"].items())
        for name, one in figures.items()
        if isinstance(one, dict) and "modules_percent" in one
    ]
    return "".join([*tables, *driver])


def _expectations(figures: Figures) -> str:
    median = statistics.median
    return _table(
        [f"{figures['expectations']} expectations on {figures['rows']:,} rows", "passes", "seconds"],
        ((way, median(figures["passes"][way]), f"{median(found):.1f}") for way, found in figures["seconds"].items()),
    )


def _scale_out(figures: Figures) -> str:
    figure, axes = plt.subplots(figsize=(9, 2.4), layout="constrained")
    _bars(
        axes,
        {f"{number} executor(s)": seconds for number, seconds in figures["seconds"].items()},
        f"seconds, whole process; a tenth of {figures['rows']:,} rows changed, all compacted",
    )
    cases = [(f"{one['changed']:,}", one["groups"], f"{statistics.median(one['seconds']):.2f}") for one in figures["cases"]]
    costs, paper = figures["costs"], figures["ten_terabytes"]
    formula = (
        f"<p>seconds = {costs['fixed']:.1f} + ({costs['row'] * 1e6:.1f} µs * changed rows + "
        f"{costs['group'] * 1e3:.1f} ms * file groups touched) / cores. A table of 10 TB and a billion rows has "
        f"{paper['groups']:,} file groups; a million random changes touch {paper['touched']:,} of them.</p>"
    )
    lines = [(cores, seconds, paper["one_in_a_hundred"][cores]) for cores, seconds in paper["all_touched"].items()]
    return (
        _image(figure)
        + _table(["changed rows", "file groups", "seconds"], cases)
        + formula
        + _table(["cores", "s, all of them touched", "s, one in a hundred touched"], lines)
    )


_DRAWN: Mapping[str, Callable[[Figures], str]] = {
    "main-job": _main_job,
    "dimension": _compared,
    "fact": _compared,
    "engines": _engines,
    "growth": _growth,
    "index-load": _index_load,
    "index-upserts": _index_upserts,
    "control-plane": _spreads,
    "fixed-cost": _spreads,
    "profiles": _profiles,
    "scale-out": _scale_out,
    "tuning": _tuning,
    "expectations": _expectations,
}

if __name__ == "__main__":
    print(write_page(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS))
