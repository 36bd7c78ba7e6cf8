#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_chat_cases.py [--check]: writes tests/golden/chat_cases.json, what Jinja2 makes of templates of our own.

Jinja2 is set up as Hugging Face sets it up. With --check nothing is written: 1 if the file would change, 77 (skipped)
without Jinja2.
"""
import datetime
import json
import pathlib
import sys

try:
    import jinja2
    import jinja2.ext
    import jinja2.sandbox
except ImportError:
    print("skipped: there is no Jinja2; install python3-jinja2")
    sys.exit(77)

TARGET = pathlib.Path(__file__).resolve().parent.parent / "golden" / "chat_cases.json"
NOW = datetime.datetime(2025, 7, 4, 5, 6, 7)

CONTEXT = {"n": 7, "f": 0.5, "s": "Two words", "l": [5, 2, 9], "d": {"b": 2, "a": [1]}, "none": None,
           "yes": True, "rows": [{"k": "x", "v": 2}, {"k": "y", "v": 1}, {"k": "x"}],
           "odd": " \u00e9\u00df \u4e2d\n<&'\">"}

# One-line templates, by subject.
CASES = """
{{ n }} {{ f }} {{ s }} {{ l }} {{ d }} {{ none }} {{ yes }}
{{ n + 1 }} {{ n - 9 }} {{ n * f }} {{ n / 2 }} {{ n // 2 }} {{ -n // 2 }} {{ n % 4 }} {{ -n % 4 }} {{ 2 ** 10 }}
{{ 1 ~ s ~ none }} {{ s[0] }} {{ s[-1] }} {{ s[1:4] }} {{ l[::-1] }} {{ l[5:] }}
{{ n > 3 and f < 1 or nothing }} {{ not yes }} {{ 3 in l }} {{ 'a' in d }} {{ 'wo' in s }} {{ 1 < n <= 7 }}
{{ 'big' if n > 5 else 'small' }} [{{ 'x' if n > 50 }}]
{{ d.a }} {{ d['b'] }} {{ d.none is defined }} [{{ d.none }}] {{ rows[0].k }} {{ rows[-1].v is undefined }}
{{ nothing.at.all }}
{{ nothing() }}
{{ s.upper() }} {{ s.split() }} {{ s.replace('o', '0') }} {{ s.startswith('Two') }} {{ '-'.join(['a', 'b']) }}
{{ ' x '.strip() }}| {{ 'xxay'.lstrip('x') }} {{ s.find('w') }} {{ s.title() }} {{ 'aXb'.swapcase() }}
{{ s.no_such_method() }}
{{ l | sort }} {{ l | sort(reverse=true) }} {{ l | first }} {{ l | last }} {{ l | length }} {{ l | sum }} {{ l | max }}
{{ rows | map(attribute='k') | list }} {{ rows | selectattr('v', 'defined') | map(attribute='v') | join('+') }}
{{ rows | groupby('k') | map(attribute='grouper') | list }} {{ rows | rejectattr('k', 'equalto', 'x') | list | length }}
{{ l | select('gt', 4) | list }} {{ l | batch(2) | list }} {{ d | dictsort }} {{ d.items() | list }} {{ s | list | unique | list | length }}
{{ s | upper | reverse }} {{ 'a b' | capitalize }} {{ 'a-b' | replace('-', '+') }} {{ 3.14159 | round(2) }} {{ '42' | int + 1 }}
{{ d | tojson }} {{ odd | tojson }} {{ rows | tojson(indent=2) }}
{{ odd | escape }} {{ odd | trim }} {{ odd | length }} {{ '%s is %05.2f' | format('x', 3.14159) }}
{{ none | default('d') }} {{ none | default('d', true) }} {{ nothing | default('d') }} {{ n is number }} {{ s is string }} {{ l is iterable }} {{ d is mapping }}
{% for x in l %}{{ loop.index }}/{{ loop.length }}:{{ x }}{{ ',' if not loop.last }}{% endfor %}
{% for x in [] %}a{% else %}none{% endfor %}
{% for x in l if x > 3 %}{{ loop.index0 }}{{ x }} {% endfor %}
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}
{% for x in l %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% if loop.index > 2 %}{% break %}{% endif %}{% endfor %}
{% for x in range(3) %}{{ loop.cycle('a', 'b') }}{{ loop.previtem }}{{ loop.nextitem }} {% endfor %}
{% set ns = namespace(total=0) %}{% for x in l %}{% set ns.total = ns.total + x %}{% endfor %}{{ ns.total }}
{% set x = 1 %}{% for y in l %}{% set x = y %}{% endfor %}{{ x }}
{% set block %}<{{ n }}>{% endset %}{{ block }}{{ block | length }}
{% macro tag(name, value='-') %}[{{ name }}={{ value }}]{% endmacro %}{{ tag('a') }}{{ tag('b', 2) }}{{ tag(value=1, name='c') }}
{% macro outer() %}({{ caller() }}){% endmacro %}{% call outer() %}in{% endcall %}
{% filter upper %}a{{ s }}{% endfilter %}
{% raw %}{{ n }}{% endraw %} {# nothing #}.
a  {%- if yes -%}  b  {%- endif -%}  c
{{ strftime_now('%Y-%m-%d %H:%M:%S') }} {{ strftime_now('%d %b %Y') }}
{{ raise_exception('no system message, please') }}
{{ l.append(1) }}
{{ s.__class__ }}
{{ l | no_such_filter }}
{{ n is no_such_test }}
{{ n + s }}
{{ l[99] }} {{ d['zz'] }}
{{ 1 / 0 }}
{% if n %}
{{ n
{% for %}
{{ ''.join(l) }}
{{ dict(a=1, **{'b': 2}) }} {{ [1, 2] + [3] }} {{ (1, 'a') }} {{ {'a': {'b': [none, true]}} }}
{{ 1e20 }} {{ 1.0 }} {{ 0.1 + 0.2 }} {{ 12345678901234567890 }} {{ 2 ** 62 }} {{ 1e-7 }}
{{ 'a\\nb' }} {{ "it's" }} {{ ['it\\'s', "\\"q\\""] }}
{{ joiner(', ')() }}{% set j = joiner('|') %}{{ j() }}a{{ j() }}b
{{ s | wordcount }} {{ 'abcdef' | truncate(4, true, '.') }} {{ 'x' | center(5) }}| {{ 'a\\nb' | indent(2) }}
{{ lipsum is defined }} {{ self is defined }} {{ range(2, 9, 3) | list }} {{ [1, [2]] == [1, [2]] }} {{ 1 == 1.0 }} {{ 'a' < 'b' }}
"""

CHAT = """\
{%- if messages[0].role == 'system' %}
    {%- set system = messages[0].content | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system = 'Be kind.' %}
{%- endif %}
<sys>{{ system }}</sys>
{% for message in messages %}
    {%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('Roles must alternate: user, assistant, user, ...') }}
    {%- endif %}
    {{- '<' + message.role + '>' + message.content | trim + '</' + message.role + '>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<assistant>' }}
{%- endif %}
"""

TOOLS = """\
{{- bos_token }}
{%- macro describe(tool) -%}
{{ tool.name }}({% for name, type in tool.parameters.items() %}{{ name }}: {{ type }}{{ ", " if not loop.last }}{% endfor %})
{%- endmacro %}
{%- if tools %}
# Tools
{% for tool in tools %}
- {{ describe(tool.function) }}
  {{ tool.function | tojson }}
{% endfor %}
{% endif %}
{% set ns = namespace(calls=0, last_user=-1) %}
{% for message in messages %}
{% if message.role == 'user' %}{% set ns.last_user = loop.index0 %}{% endif %}
{% endfor %}
{% for message in messages %}
{% if message.tool_calls is defined and message.tool_calls %}
{% for call in message.tool_calls %}
{% set ns.calls = ns.calls + 1 %}
<call {{ ns.calls }}>{{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson(indent=1) }}</call>
{% endfor %}
{% elif message.role == 'tool' %}
<result>{{ message.content if message.content is string else message.content | tojson }}</result>
{% elif message.content is string %}
{{ message.role }}: {{ message.content.split('</think>')[-1].lstrip('\\n') if loop.index0 < ns.last_user else message.content }}
{% else %}
{{ message.role }}:{% for part in message.content %} {{ part.text if part.type == 'text' else '[' ~ part.type ~ ']' }}{% endfor %}

{% endif %}
{% endfor %}
{{ 'assistant:' if add_generation_prompt }}"""

USER = {"role": "user", "content": " How far is the moon? "}
ANSWER = {"role": "assistant", "content": "<think>far</think>\n\n384,400 km"}
SYSTEM = {"role": "system", "content": "Answer\nin one line.\n"}
TOOL = {"type": "function", "function": {"name": "look_up", "description": "Finds <facts> & \u201efigures\u201c.",
                                         "parameters": {"what": "string", "unit": "string"}}}
CALL = {"role": "assistant", "content": None,
        "tool_calls": [{"function": {"name": "look_up", "arguments": {"what": "moon", "far": [1, 2.5, None]}}}]}
CONVERSATIONS = {
    "user": {"messages": [USER], "add_generation_prompt": True},
    "system": {"messages": [SYSTEM, USER, ANSWER, USER], "add_generation_prompt": True},
    "no prompt": {"messages": [USER, ANSWER], "add_generation_prompt": False},
    "twice the user": {"messages": [USER, USER], "add_generation_prompt": True},
    "empty": {"messages": [], "add_generation_prompt": True},
    "tools": {"messages": [SYSTEM, USER, CALL, {"role": "tool", "content": {"km": 384400}}, ANSWER, USER],
              "tools": [TOOL, TOOL], "add_generation_prompt": True},
    "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is"}, {"type": "image"}]}],
              "tools": None},
}


class Raised(jinja2.TemplateError):
    """What a template raises."""


class Generation(jinja2.ext.Extension):
    """{% generation %}, which Hugging Face marks the assistant's text with."""

    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, Generation])

    def raise_exception(message):
        raise Raised(message)

    made.filters["tojson"] = lambda value, indent=None: json.dumps(value, ensure_ascii=False, indent=indent)
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = NOW.strftime
    return made


def result_of(template, variables):
    """The text, or the kind of the error: as the test names it."""
    try:
        return environment().from_string(template).render(**{"bos_token": "<s>", "eos_token": "</s>", **variables})
    except Raised as error:
        return {"error": "raised", "message": error.message}
    except jinja2.TemplateSyntaxError as error:
        return {"error": "syntax", "line": error.lineno}
    except jinja2.sandbox.SecurityError:
        return {"error": "security"}
    except jinja2.UndefinedError:
        return {"error": "undefined"}
    except Exception:
        return {"error": "runtime"}


def main():
    cases = [{"template": line, "result": result_of(line, CONTEXT)} for line in CASES.strip().splitlines()]
    templates = [{"name": name, "template": template,
                  "results": {key: result_of(template, value) for key, value in CONVERSATIONS.items()}}
                 for name, template in (("chat", CHAT), ("tools", TOOLS))]
    text = json.dumps({"about": f"Made by tests/chat/make_chat_cases.py with Jinja2 {jinja2.__version__}.",
                       "context": CONTEXT, "cases": cases, "contexts": {
                           key: {"bos_token": "<s>", "eos_token": "</s>", **value}
                           for key, value in CONVERSATIONS.items()}, "templates": templates}, indent=1) + "\n"
    if "--check" in sys.argv:
        ours, theirs = json.loads(TARGET.read_text(encoding="ascii")), json.loads(text)
        del ours["about"], theirs["about"]
        sys.exit(ours != theirs)
    TARGET.write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
