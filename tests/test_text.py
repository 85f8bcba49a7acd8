"""What others wrote does no harm, and stays what it was where it did none."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pesky.text import ERROR, NAME, colored, harmless, one_line

ESCAPES = st.sampled_from(
    ["\x1b", "\x1b[", "\x1b]", "\x1b[31m", "\x1b\\", "\x07", "\x9b", "0;1", "m", "c", "\r", "\n", "  "]
)
"""What sequences are made of, so that they come to be, whole and in parts."""
ANY = st.text(st.characters())  # also surrogates
TEXTS = st.lists(ESCAPES | ANY).map("".join)
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@given(TEXTS, st.integers(0, 60) | st.just(ERROR))
@example("x" * 100, 10)
@example("\x1b\x1b[mc", 60)
@example("\x1b[m" * 100 + "x" * 100, 20)
def test_nothing_harmful_is_left_and_the_same_comes_back_when_given_again(text, most):
    for made in (harmless(text, most), one_line(text, most)):
        assert not HARMFUL.search(made)
        assert len(made) <= most
        made.encode()
    assert harmless(harmless(text, most), most) == harmless(text, most)
    assert one_line(one_line(text, most), most) == one_line(text, most)
    assert "\n" not in one_line(text, most)


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=ERROR))
def test_what_is_printed_everywhere_stays_as_it_is(text):
    assert harmless(f"{text}\n\tx"[:ERROR]) == f"{text}\n\tx"[:ERROR]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;2;1;2;3mtrue", "true"),
        ("\x1b[2J\x1b[Hhome\x1b[?25l\x1b[6 q", "home"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
        ("\x1bPq\x1b\\a\x1b(Bb\x1bcc\x1b7d", "abcd"),
        ("\x1b]0;never ends", r"\x1b]0;never ends"),
        ("\x1b[31", r"\x1b[31"),
        ("a\x00b\x07\x08\x7f\x9b", r"a\x00b\x07\x08\x7f\x9b"),
        ("\u202egnp.exe", r"\x202egnp.exe"),
        ("half \ud83d", r"half \xd83d"),
        ("10%\r20%\r\ndone\n", "10%\n20%\ndone\n"),
    ],
)
def test_what_a_terminal_would_obey_is_gone_or_seen(text, left):
    assert harmless(text) == left


def test_of_a_long_text_the_beginning_and_the_end_are_kept():
    made = harmless("begin" + "x" * 10**6 + "end")
    assert len(made) == ERROR
    assert made.startswith("begin")
    assert made.endswith("end")
    assert " [...] " in made
    assert len(one_line("x" * 300)) == NAME


def test_one_line_has_one_blank_where_there_were_any():
    assert one_line(" a\r\n\n b\t c ") == "a b c"


@given(TEXTS)
@example("\x1b\x1b[31m[2J")
@example("\x1b]0;a\x1b[31mb\x07")
def test_of_all_sequences_colors_alone_are_kept(text):
    assert not HARMFUL.search(re.sub(r"\x1b\[[0-9;]*m", "", colored(text)))


def test_colors_stay_where_they_are():
    assert colored("a \x1b[1;31mred\x1b[0m\x1b[2K\x1b[m b") == "a \x1b[1;31mred\x1b[0m\x1b[m b"


@pytest.mark.parametrize("part", ["x", "\x1b", "\x1b[", "\x1b]", "\x1b[31m", "\x1b[0", "\x00", "\r\n", " \n"])
def test_ten_megabytes_take_no_time(part):
    text = part * (10**7 // len(part))
    began = time.process_time()
    harmless(text)
    one_line(text)
    assert time.process_time() - began < 0.1
