"""The far end of `Processes`: a script that loads and calls what it is sent, until it is told to stop.

It is run by its path and imports nothing of pesky, so that it starts in a fifth of a second: the package could bring
torch along. What arrives, and what it answers, each time behind the number of the call:

    ("load", slot, code, sys.path, sys.argv)     ("loaded",)            | ("failed", text)
    ("measure", slot, params)                    ("report", *report)
    ("call", slot, arguments)                    ("returned", pickled)  | ("raised", pickled)
    ("stop",)                                    it ends as any program does
"""

import os
import pickle
import runpy
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


def main(connection: Connection) -> None:
    """Answer one message after the other, on the main thread, where users' functions expect to be."""
    call = runpy.run_path(os.path.join(os.path.dirname(__file__), "call.py"))
    functions: dict[int, Callable[..., Any]] = {}
    process, streams = os.getpid(), _Streams()
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
        streams.mend()
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


class _Streams:
    """The standard streams, which the next function finds as they were though one before it has closed them."""

    def __init__(self) -> None:
        self._copies = [os.dup(descriptor) for descriptor in range(3)]

    def mend(self) -> None:
        """Open what is closed."""
        for descriptor, copy in enumerate(self._copies):
            try:
                os.fstat(descriptor)
            except OSError:
                os.dup2(copy, descriptor)
        for name, descriptor in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
            if getattr(getattr(sys, name), "closed", True):
                setattr(sys, name, os.fdopen(descriptor, "w" if descriptor else "r", buffering=1, closefd=False))


def _start(connection: int) -> None:
    os.set_inheritable(connection, False)  # for this process, not for the programs that it starts
    # what a function prints is seen when it prints it, and is not lost if it is killed
    sys.stdout.reconfigure(line_buffering=True)  # pyright: ignore[reportAttributeAccessIssue]
    main(Connection(connection))


if __name__ == "__main__":
    _start(int(sys.argv[1]))
