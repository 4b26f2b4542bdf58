"""Templates: strict, with the right line, and no way out of the sandbox."""

from __future__ import annotations

import resource

import pytest

from freshet.problems import Problems
from freshet.project.syntax.template import TemplateContext, render
from freshet.project.syntax.template_process import PROCESS

VALUES = {"x": 1, "raw_root": "/r", "flag": True}


def rendered(text: str, line: int = 10) -> tuple[str | None, list[tuple[int, str]], Problems]:
    problems = Problems()
    context = TemplateContext(
        var=VALUES, env={"TOKEN": "s3cret"}, names={}, on_secret=None, unknown_hints={"start": "only during a backfill"}
    )
    result = render(text, context, "f.sql", line, problems)
    return result, [(p.line, p.code) for p in problems.found], problems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain { text }", "plain { text }"),
        ("{{ var.x }}/{{ var.raw_root }}", "1//r"),
        ("{{ var.flag }}", "true"),
        ("a\n{% if var.flag %}b{% endif %}\n", "a\nb\n"),
        ("{{ var.x + 1 }}", "2"),
        ("{{ var['x'] ~ 'y' }}", "1y"),
        ("{% for c in ['a', 'b'] %}{{ c }}{% if not loop.last %},{% endif %}{% endfor %}", "a,b"),
        ("{{ var.nope | default('z') }}", "z"),
        ("{{ start is defined }}", "false"),
        ("{{ env.TOKEN | upper }}", "S3CRET"),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
    ],
)
def test_what_templates_can_do(text: str, expected: str) -> None:
    assert rendered(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "line", "code", "name"),
    [
        ("a\n{{ var.raw_rot }}", 11, "UNDEFINED_VARIABLE", "raw_root"),
        ("\n\n{{ var.raw_rot | upper }}", 12, "UNDEFINED_VARIABLE", "raw_root"),
        ("{{ env.TOKN }}", 10, "UNDEFINED_VARIABLE", "TOKEN"),
        ("{{ env.OTHER | lower }}", 10, "UNDEFINED_VARIABLE", "export OTHER"),
        ("a\n{{ start }}", 11, "UNDEFINED_VARIABLE", "only during a backfill"),
        ("{{ vars.x }}", 10, "UNDEFINED_VARIABLE", "var"),
        ("a\n{% if %}", 11, "TEMPLATE_SYNTAX", ""),
        ("{{ var.x", 10, "TEMPLATE_SYNTAX", ""),
        ("{{ var.x | nope }}", 10, "TEMPLATE_SYNTAX", ""),
        ("\n{{ 1 / 0 }}", 11, "TEMPLATE_ERROR", ""),
    ],
)
def test_mistakes_have_their_line(text: str, line: int, code: str, name: str) -> None:
    result, problems, raw = rendered(text)
    assert result is None
    assert problems == [(line, code)]
    assert name in raw.found[0].hint


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ (1).__class__ }}",
        "{{ range.__globals__ }}",
        "{{ '{0.__class__}'.format(1) }}",
        "{{ 'a'.ljust(10**9) }}",
        "{{ 'a' * 10**9 }}",
        "{{ 9**999999999 }}",
        "{{ (10**10)**(10**10) }}",
        "{{ range(10**12) }}",
        "{{ '%1000000000s' % 1 }}",
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% set x = 'a' %}" + "{% set x = x ~ x %}" * 40,
        "{% set x = 'a' %}" + "{% set x = x + x %}" * 40,
        "{% set l = ['a'] %}" + "{% set l = [l, l] %}" * 40 + "{{ l }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{% set x %}a{% endset %}",
        "{{ [1, 2] }}",
        "{{ self }}",
        "{{ var }}",
        "{% for i in range(9999) %}" + "x" * 1000 + "{% endfor %}",
        "{{ 'ab' | replace('', 'x' * 999999) | replace('', 'x' * 999999) }}",
        "{{ (range(9999) | list) | join('x' * 999999) }}",
        "{{ " + "(" * 3000,
        "{{ env }}",
    ],
)
def test_the_sandbox_holds(text: str) -> None:
    # It is given a second of the processor's time; the suite's own limit ends what would go on for ever.
    result, problems, _ = rendered(text)
    assert result is None
    assert problems[0][1] in ("TEMPLATE_UNSAFE", "TEMPLATE_SYNTAX")


@pytest.mark.parametrize(
    "text",
    [
        "{{ '{0:>900000000}'.format(1) }}",
        "{{ '{x:>900000000}'.format_map({'x': 1}) }}",
        "{{ '{0:{1}}'.format(1, 900000000) }}",
        "{{ '{0:>{w}}{0:>{w}}'.format(1, w=400000000) }}",
        "{{ '%*d' % (900000000, 1) }}",
        "{{ '%900000000d' | format(1) }}",
        "{{ 'a' | center(900000000) }}",
        "{{ 'a' | indent(900000000, true) }}",
        "{{ 'ab'.zfill(900000000) }}",
        "{{ ([range(99999) | list] * 99999) | sum(start=[]) | join }}",
    ],
)
def test_a_template_takes_no_memory_of_this_process(text: str) -> None:
    """Whatever asks for memory: formats and their nested widths, filters, methods, lists, joins, powers (see above)."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result, problems, _ = rendered(text)
    assert (result, problems) == (None, [(10, "TEMPLATE_UNSAFE")])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024
    assert rendered("{{ var.x + 1 }}")[0] == "2"


def test_one_process_renders_many_templates() -> None:
    rendered("{{ var.x + 1 }}")
    child = PROCESS._child
    for number in range(50):
        assert rendered(f"{{{{ var.x + {number} }}}}" + " text" * 400)[0].startswith(str(number + 1))
    assert PROCESS._child is child, "a process for each template would take 30 ms each"


def test_a_process_that_was_ended_is_begun_anew() -> None:
    rendered("{{ var.x + 1 }}")
    PROCESS._child.kill()
    PROCESS._child.wait()
    assert rendered("{{ var.x + 1 }}")[0] == "2"


@pytest.mark.parametrize("text", ["{{ var.__class__ }}", "{{ var.values }}", "{{ lipsum }}", "{{ cycler }}", "{{ namespace }}"])
def test_names_of_python_and_jinja_are_not_there(text: str) -> None:
    assert rendered(text)[1] == [(10, "UNDEFINED_VARIABLE")]
