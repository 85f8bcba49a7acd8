"""`python -m docs.transcripts [PAGE ..]`: runs what pages show, and writes what it prints beneath it.

A page is worked through from above, in a folder with nothing but a copy of `examples`. A block with a title is a file,
which is written there:

    ```toml title="study.toml"

The lines of a `console` block that begin with "$ " are commands, all others what they print. What a piece of Python
prints is in the `text` block right after it; each is a program of its own. Pictures that a page shows and its commands
made are kept beside it.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from PIL import Image

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


class Block(NamedTuple):
    """A fenced block of a page, from `start` to `end` of its text."""

    language: str
    title: str | None
    text: str
    start: int
    end: int


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [Block(m["language"], m["title"], m["text"], m.start("text"), m.end("text")) for m in BLOCK.finditer(page)]


def has_outputs(page: str) -> bool:
    """Whether a page shows what something prints."""
    blocks = blocks_of(page)
    return any(b.language == "console" for b in blocks) or bool(_outputs_of_python(page, blocks))


def transcribed(page: str, folder: Path) -> str:
    """The page with what its commands print today, having run them in `folder`."""
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("*.db*", "__pycache__"))
    blocks = blocks_of(page)
    outputs = _outputs_of_python(page, blocks)
    pieces, end = [], 0
    for number, block in enumerate(blocks):
        new = block.text
        if block.title:
            (folder / block.title).write_text(block.text)
        elif block.language == "console":
            commands = [line for line in block.text.splitlines() if line.startswith("$ ")]
            new = "".join(f"{command}\n{_printed(command[2:], folder)}" for command in commands)
        elif number in outputs:
            new = _printed("python -", folder, outputs[number].text)
        pieces += [page[end : block.start], new]
        end = block.end
    return "".join([*pieces, page[end:]])


def _outputs_of_python(page: str, blocks: Sequence[Block]) -> dict[int, Block]:
    """For each block that has the output of a piece of Python, the piece: what is right before it."""
    pairs = enumerate(pairwise(blocks), start=1)
    return {
        number: piece
        for number, (piece, output) in pairs
        if (piece.language, output.language, output.title) == ("python", "text", None)
        and page[piece.end : output.start] == "```\n\n```text\n"
    }


def _printed(command: str, folder: Path, given: str = "") -> str:
    """What a command prints, without spaces at the ends of lines; it may fail, since a page may show that."""
    scripts = Path(sys.executable).parent
    settings = {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100", "NO_COLOR": "1"}
    ran = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | settings,
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in ran.stdout.splitlines() if line.strip())


def pages_with_outputs() -> list[Path]:
    """The pages that show what something prints."""
    return [page for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))) if has_outputs(page.read_text())]


def main(arguments: Sequence[str]) -> None:
    """Rewrites pages: those given, or all that show what something prints."""
    for page in map(Path, arguments) if arguments else pages_with_outputs():
        with TemporaryDirectory() as name:
            page.write_text(transcribed(page.read_text(), Path(name)))
            for shown in PICTURE.findall(page.read_text()):
                if (made := Path(name, Path(shown).name)).exists():
                    (page.parent / shown).parent.mkdir(exist_ok=True)
                    Image.open(made).convert("RGB").quantize(128).save(page.parent / shown, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
