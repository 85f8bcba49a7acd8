"""The far end of `Processes`: a script that loads and calls what it is sent, until it is told to stop.

It is run by its path and imports nothing of pesky, so that it starts in a fifth of a second: the package could bring
torch along. What arrives, and what it answers, each time behind the number of the call:

    ("load", slot, code, sys.path, sys.argv)     ("loaded",)            | ("failed", text)
    ("measure", slot, params)                    ("report", *report)
    ("call", slot, arguments)                    ("returned", pickled)  | ("raised", pickled)
    ("stop",)                                    it ends as any program does
"""

import fcntl
import os
import pickle
import runpy
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


def main(connection: Connection) -> None:
    """Answer one message after the other, on the main thread, where users' functions expect to be."""
    call = runpy.run_path(os.path.join(os.path.dirname(__file__), "call.py"))
    functions: dict[int, Callable[..., Any]] = {}
    process = os.getpid()
    while True:
        try:
            number, message = connection.recv()
        except EOFError:  # the parent has left without a word
            return
        match message:
            case ("load", slot, code, path, argv):
                sys.path[:], sys.argv[:] = path, argv
                try:
                    functions[slot] = pickle.loads(code)
                    answer = ("loaded",)
                except (Exception, SystemExit) as error:
                    answer = ("failed", call["describe"](error))
            case ("measure", slot, params):
                answer = ("report", *call["measure"](functions[slot], pickle.loads(params)))
            case ("call", slot, arguments):
                answer = _called(functions[slot], arguments)
                call["leave_if_forked"](process)
            case _:
                return
        connection.send((number, answer))


def _called(function: Callable[..., Any], arguments: bytes) -> tuple[str, bytes]:
    import cloudpickle

    try:
        positional, named = pickle.loads(arguments)
        return "returned", cloudpickle.dumps(function(*positional, **named))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        error.add_note("In the child process:\n" + "".join(traceback.format_tb(error.__traceback__)))
        try:
            sent = cloudpickle.dumps(error)
            pickle.loads(sent)  # many an exception can be pickled but not made again
        except Exception:
            sent = pickle.dumps(RuntimeError("".join(traceback.format_exception(error))))
        return "raised", sent


def die_with(lifeline: int, *, by_kernel: bool = hasattr(fcntl, "F_SETSIG")) -> None:
    """See to it that this process and what it starts are killed once the far end of the pipe `lifeline` is closed.

    The far end is the parent's, and is closed however the parent ends. Linux does the killing by itself, even while a
    function does not let other threads run; and no thread stands in the way of a function that forks.
    """
    if by_kernel:
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([lifeline], [], [], 0)[0]:  # it was closed before the kernel was told
            _await_end(lifeline)
    else:
        threading.Thread(target=_await_end, args=[lifeline], daemon=True).start()


def _await_end(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def _start(connection: int, lifeline: int) -> None:
    for handle in (connection, lifeline):  # for this process, not for the programs that it starts
        os.set_inheritable(handle, False)
    die_with(lifeline)
    # what a function prints is seen when it prints it, and is not lost if it is killed
    sys.stdout.reconfigure(line_buffering=True)  # pyright: ignore[reportAttributeAccessIssue]
    main(Connection(connection))


if __name__ == "__main__":
    _start(*map(int, sys.argv[1:]))
