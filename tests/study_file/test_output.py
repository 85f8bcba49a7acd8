"""Lines arrive as they are printed."""

import os
import threading
import time

import pytest
from stopwatch import Stopwatch

from pesky.study_file.output import LONGEST, Output, Pipe, Tail


def test_what_processes_print_arrives_line_by_line():
    lines = []
    with Output(lines.append) as output:
        os.write(output.fileno(), b"one\ntw")
        os.write(output.fileno(), b"o\n\xff\nlast")
    assert lines == ["one", "two", "\ufffd", "last"]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([b"a\r\nb\r", b"\nc\rd"], ["a", "b", "c", "d"]),
        ([b"\n\na\n\n"], ["", "", "a", ""]),
        ([b"\xc3", b"\xbc\n"], ["ü"]),
        ([b"\xc3"], ["\ufffd"]),
        ([], []),
    ],
)
def test_lines_end_where_they_do_however_the_pieces_come(pieces, expected):
    lines = []
    with Output(lines.append) as output:
        for piece in pieces:
            os.write(output.fileno(), piece)
            time.sleep(0.02)
    assert lines == expected


def test_a_long_line_comes_in_parts_before_its_end():
    lines = []
    with Output(lines.append) as output:
        os.write(output.fileno(), b"x" * LONGEST)
        os.write(output.fileno(), b"\n\n")
        for _ in range(8):
            os.write(output.fileno(), b"y" * LONGEST)
        os.write(output.fileno(), b"z\nlast")
    first, empty, *parts, last = lines
    assert (first, empty, last) == ("x" * LONGEST, "", "last")
    assert "".join(parts) == "y" * 8 * LONGEST + "z"
    assert max(map(len, parts)) <= 2 * LONGEST


def test_whoever_holds_the_pipe_open_is_not_waited_for():
    lines, before = [], (len(os.listdir("/dev/fd")), threading.active_count())
    with Stopwatch() as watch, Output(lines.append) as output:
        other = os.dup(output.fileno())
        os.write(other, b"all of\nthis")
    assert watch.seconds < 0.5
    assert lines == ["all of", "this"]
    with pytest.raises(BrokenPipeError):
        os.write(other, b"nobody reads any more")
    os.close(other)
    assert (len(os.listdir("/dev/fd")), threading.active_count()) == before


def test_whoever_goes_on_printing_is_not_read_for_ever():
    printed = []
    with Pipe(printed.append) as pipe:
        other = os.dup(pipe.fileno())
        flood = threading.Thread(target=_flood, args=[other])
        flood.start()
        while not printed:
            time.sleep(0.01)
    assert printed[-1] == b""
    flood.join(5)
    assert not flood.is_alive()


def _flood(descriptor):
    try:
        while True:
            os.write(descriptor, b"x" * 2**16)
    except BrokenPipeError:
        os.close(descriptor)


def test_a_thread_that_fails_leaves_nothing_open(monkeypatch):
    before = len(os.listdir("/dev/fd"))
    monkeypatch.setattr(threading.Thread, "start", lambda self: (_ for _ in ()).throw(RuntimeError("no more threads")))
    with pytest.raises(RuntimeError, match="no more threads"):
        Output(print).__enter__()
    assert len(os.listdir("/dev/fd")) == before


def test_a_tail_is_the_end_of_all_pieces():
    tail, given = Tail(10), b""
    for i in range(20):
        piece = bytes([65 + i]) * (i % 4)
        given += piece
        tail(piece)
        assert tail.text == given[-10:].decode()
        assert tail.is_cut == (len(given) > 10)
