"""Keys are found in whatever way TOML lets them be written."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from pesky.study_file.key_lines import key_lines

TEXT = '''\
# a comment with = and [brackets]
title = "a # that is no comment" # one that is
"quoted key" = 1
a.b.c = 2.5
list = [
  1, # the first
  { x = 1, y = [2,
    3] },
  "three",
]
long = """
not = a key
[nor.a.table]
""\\"" """
raw = \'\'\'
x = 1
\'\'\'
inline = { low = 1e-5, high = +inf, when = 1979-05-27T07:32:00Z }

[tasks.train] # header
cost = 1
[tasks."odd . name"]
cost = 2
[[many]]
v = 1
[[many]]
v = 2
'''


def test_every_key_has_the_line_where_it_is_written():
    tomllib.loads(TEXT)
    lines = key_lines(TEXT)
    rows = TEXT.splitlines()
    assert lines["title",] == 2
    assert lines["quoted key",] == 3
    assert lines["a",] == lines["a", "b"] == lines["a", "b", "c"] == 4
    assert [lines["list", i] for i in range(3)] == [6, 7, 9]
    assert (lines["list", 1, "x"], lines["list", 1, "y"], lines["list", 1, "y", 1]) == (7, 7, 8)
    assert lines["raw",] == 1 + rows.index("raw = '''")
    assert lines["inline", "when"] == lines["inline", "low"] == 1 + rows.index(next(r for r in rows if "inline" in r))
    assert lines["tasks", "train", "cost"] == 1 + rows.index("cost = 1")
    assert lines["tasks", "odd . name", "cost"] == 1 + rows.index("cost = 2")
    assert lines["many", 0, "v"] == 1 + rows.index("v = 1")
    assert lines["many", 1, "v"] == 1 + rows.index("v = 2")
    assert not any("not" in key or "nor" in key for key in lines)


def test_lines_end_as_windows_ends_them():
    assert key_lines('a = 1\r\n[b]\r\nc = "x"\r\n') == {("a",): 1, ("b",): 2, ("b", "c"): 3}


def test_an_empty_text_has_no_keys():
    assert key_lines("") == {}


NAMES = st.text("abc-_1", min_size=1, max_size=3)
TEXTS = st.text('ab"#=[]{},.\n', max_size=6)


def written(value: object) -> str:
    """The value as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{k}" = {written(v)}' for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(written, value)) + "\n]"
    if isinstance(value, str):
        return '"' + value.replace('"', '\\"').replace("\n", "\\n") + '"'
    return str(value)


def paths(value: object, key: tuple = ()):
    """The keys of all that is in a value."""
    each = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in each:
        yield (*key, name)
        yield from paths(part, (*key, name))


VALUES = st.recursive(
    st.integers() | TEXTS, lambda v: st.lists(v, max_size=3) | st.dictionaries(NAMES, v, max_size=3), max_leaves=6
)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_whatever_tomllib_reads_is_found(table):
    text = "".join(f'"{name}" = {written(value)}\n' for name, value in table.items())
    assert tomllib.loads(text) == table
    lines = key_lines(text)
    assert set(lines) == set(paths(table))
    for name in table:
        assert text.splitlines()[lines[name,] - 1].startswith(f'"{name}" =')
