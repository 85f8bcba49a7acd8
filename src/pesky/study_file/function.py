"""A Python function named in a study file, as a callable that travels to other processes by its name."""

import importlib
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder

from pesky.errors import PeskyError
from pesky.problem import Option
from pesky.problem.fields import brief


class CallError(PeskyError):
    """A function or a program that a study file names cannot be called."""

    is_mistake = True
    """At no point: `pesky.run.call` asks, since nothing is learnt from that."""


@dataclass(frozen=True)
class Function:
    """`module:name`, with the module looked for in `folder` first.

    It is imported when it is first called, or on arrival in another process: loading is no part of a measurement.
    """

    folder: str
    module: str
    name: str

    @classmethod
    def parse(cls, text: str, folder: str) -> "Function":
        """The function that a text like "toy:measure" names; a CallError that says how to write it if none."""
        text = text.strip()
        match = re.fullmatch(r"([A-Za-z_][\w.]*):([A-Za-z_][\w.]*)", text)
        if match is not None and not match[1].endswith(".py"):
            return cls(folder, match[1], match[2])
        meant = re.fullmatch(r"([\w./]+)[:.](\w+)", text)
        module = meant[1].removeprefix("./").removesuffix(".py").replace("/", ".") if meant else ""
        hint = f": did you mean {module + ':' + meant[2]!r}?" if meant and not module.endswith(".") else "."
        raise CallError(f"was {brief(text)}: expected a module and a function in it, like 'toy:measure'{hint}")

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__dict__.update(state)
        with suppress(CallError):  # if that fails, the call says why
            self.load()

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"

    def __call__(self, params: Mapping[str, Option]) -> object:
        """What the function returns for these parameters."""
        return self.load()(dict(params))

    def load(self) -> Callable[[dict[str, Option]], object]:
        """The function itself; a CallError that says what is wrong if it cannot be had."""
        found: object = self._import()
        for part in self.name.split("."):
            if not hasattr(found, part):
                inside = getattr(found, "__dict__", {}).items()
                defined = [name for name, value in inside if callable(value) and not name.startswith("_")]
                there = f"it has {', '.join(map(repr, defined))}" if defined else "it has no function at all"
                raise CallError(f"{str(self)!r}: the module {self.module!r} has no {part!r}: {there}.")
            found = getattr(found, part)
        if not callable(found):
            raise CallError(f"{str(self)!r}: that is {found!r}: expected a function that takes the parameters.")
        return found

    def check(self) -> None:
        """Nothing if the function can be called with one argument; otherwise a CallError."""
        function = self.load()
        try:
            inspect.signature(function).bind({})
        except TypeError:
            takes = f"{self.name}{inspect.signature(function)}"
            raise CallError(
                f"{str(self)!r} is {takes}: expected a function of one argument, the parameters as a dict"
                + (": `pesky import-spearmint` adapts a main(job_id, params)." if self.name == "main" else ".")
            ) from None
        except ValueError:  # some functions written in C do not say what they take
            return

    def _import(self) -> object:
        top = self.module.partition(".")[0]
        own = PathFinder.find_spec(top, [self.folder])
        if own is not None:
            origin = getattr(sys.modules.get(top), "__file__", None)
            is_other = origin and own.origin and os.path.realpath(origin) != os.path.realpath(own.origin)
            if top in sys.stdlib_module_names or is_other:
                # two modules of one name cannot both be imported, and ours or Python's own was first
                other = origin or "Python's own"
                raise CallError(f"{str(self)!r}: another module has that name, {other}: rename yours.")
            if self.folder not in sys.path:  # and it stays: the module may import its neighbors when it is called
                sys.path.insert(0, self.folder)
        importlib.invalidate_caches()
        try:
            with redirect_stdout(sys.stderr):  # standard output is for results
                return importlib.import_module(self.module)
        except (Exception, SystemExit) as error:
            if isinstance(error, ModuleNotFoundError) and error.name and f"{self.module}.".startswith(f"{error.name}."):
                raise CallError(
                    f"{str(self)!r}: there is no module {error.name!r}, neither in {self.folder} nor installed: "
                    "check the name, or move the file beside the study file."
                ) from error
            raise CallError(f"{brief(str(self))}: importing {self.module!r} raised {_described(error)}") from error


def _described(error: BaseException) -> str:
    """The error as Python prints it, and where in the user's own files it happened."""
    text = traceback.format_exception_only(error)[-1].strip()
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename and f.lineno]
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    return f"{text}{place}"
