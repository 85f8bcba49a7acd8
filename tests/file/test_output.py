"""Lines arrive as they are printed."""

import os

from pesky.file.output import Output


def test_what_processes_print_arrives_line_by_line():
    lines = []
    with Output(lines.append) as output:
        os.write(output.fileno(), b"one\ntw")
        os.write(output.fileno(), b"o\n\xff\nlast")
    assert lines == ["one", "two", "\ufffd", "last"]
