"""The command line in a pseudo-terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "TERM": "xterm-256color"}


def in_terminal(*arguments, columns=100, stdout=None, program=("-m", "pesky")):
    """The exit code of the command line in a terminal, and all that it printed there, orders to the terminal included.

    With `stdout`, a file, its standard output goes there instead.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, *program, *arguments],
        stdin=slave, stdout=slave if stdout is None else stdout, stderr=slave, env=ENVIRONMENT, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    printed = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # on Linux, the end of a terminal that nobody has open any more
            break
        if not chunk:
            break
        printed += chunk
    os.close(master)
    return process.wait(), printed.decode()
