"""`python -m docs.page_pictures`: docs/page.png and docs/page-phone.png, of the live page as it is.

It needs Chromium: run it again where words of the page change.
"""

import asyncio
import base64
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import choreographer
from PIL import Image

from pesky.study import Study
from pesky.study_file import StudyFile

ROOT = Path(__file__).parents[1]
EVALUATIONS = 24
SIZES = {"page.png": (1160, 1460), "page-phone.png": (390, 844)}
DRAWN = """new Promise(done => {
  const isDrawn = () => {
    const first = document.querySelector('figure');
    const hasPicture = first?.querySelector('.main-svg') && !first.querySelector('figcaption').textContent;
    return hasPicture && !document.body.innerText.includes('being computed');
  };
  const look = () => isDrawn() ? setTimeout(() => done(true), 1000) : setTimeout(look, 200);
  look();
})"""
"""Waits until the answer and the first picture are there."""


def study_in(storage: str) -> None:
    """The toy problem after some evaluations, and one that is being measured."""
    sys.path.insert(0, str(ROOT / "examples" / "toy"))
    file = StudyFile.read(ROOT / "examples" / "toy" / "study.toml")
    study = Study(file.problem, storage=storage, name="toy")
    study.run(__import__("toy").measure, budget=EVALUATIONS, progress=False)
    study.ask(worker="ada@bench")


async def pictures_of(address: str) -> dict[str, bytes]:
    """What a screen of each size shows."""
    shown = {}
    async with choreographer.Browser(headless=True) as browser:
        for name, (width, height) in SIZES.items():
            tab = await browser.create_tab("about:blank")

            async def send(command: str, tab: Any = tab, **parameters: Any) -> Any:
                return (await tab.send_command(command, params=parameters))["result"]

            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
            await send("Emulation.setDeviceMetricsOverride", **size)
            await send("Page.navigate", url=address)
            await send("Runtime.evaluate", expression=DRAWN, awaitPromise=True)
            shown[name] = base64.b64decode((await send("Page.captureScreenshot", format="png"))["data"])
    return shown


def main() -> None:
    """Writes both pictures."""
    with TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/study.db"
        study_in(storage)
        command = [sys.executable, "-m", "pesky", "page", storage, "--write", "--port", "0"]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as page:
            assert page.stdout is not None
            try:
                found = next(match for line in page.stdout if (match := re.search(r"http://\S+", line)))
                shown = asyncio.run(asyncio.wait_for(pictures_of(found[0]), 120))
            finally:
                page.terminate()
    for name, data in shown.items():
        few = Image.open(io.BytesIO(data)).convert("RGB").quantize(256)  # colors enough, at half of the size
        few.save(ROOT / "docs" / name, optimize=True)


if __name__ == "__main__":
    main()
