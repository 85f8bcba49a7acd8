"""A real Chromium, for tests of what is seen in one: pages are opened, watched and asked."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import choreographer
import pytest
from choreographer.browsers.chromium import Chromium
from choreographer.utils import get_browser_path

CHROMIUM = get_browser_path(("chromium", "google-chrome", "chrome"))
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium: `apt-get install chromium`, or name one in BROWSER_PATH"
)
Script = str | Callable[[], object]
LOADED = """new Promise(done => {
  const look = () => document.readyState === 'complete' ? done(true) : setTimeout(look, 20);
  look();
})"""


class Protected(Chromium):
    """As people have it: choreographer's would let every site do everything."""

    def get_cli(self) -> Sequence[str]:
        return [each for each in super().get_cli() if each != "--disable-web-security"]


@dataclass
class Visit:
    """What happened while a page was open."""

    answers: list[Any] = field(default_factory=list)
    """Of each of the scripts."""
    errors: list[str] = field(default_factory=list)
    """What the console said of errors, and exceptions."""
    requests: list[str] = field(default_factory=list)
    """The addresses that were asked for, the page's own first; what a page has within itself is none."""


def visit(page: Path | str, *scripts: Script, width: int = 1000) -> Visit:
    """The page of a file or an address, opened; a script is an expression, or a promise of one, in the page.

    What is no text is called here instead, in its turn, while the page is open. A phone's width is 390.
    """
    return asyncio.run(asyncio.wait_for(_visit(page, scripts, width), 90))


async def _visit(page: Path | str, scripts: tuple[Script, ...], width: int) -> Visit:
    found = Visit()

    async def thrown(message: Any) -> None:
        found.errors.append(str(message["params"]))

    async def logged(message: Any) -> None:
        if message["params"]["entry"]["level"] == "error":
            found.errors.append(str(message["params"]["entry"]))

    async def requested(message: Any) -> None:
        if not (address := message["params"]["request"]["url"]).startswith(("data:", "blob:")):
            found.requests.append(address)

    async with choreographer.Browser(path=CHROMIUM, browser_cls=Protected, headless=True) as browser:
        tab = await browser.create_tab("about:blank")
        for event, listener in (
            ("Runtime.exceptionThrown", thrown),
            ("Log.entryAdded", logged),
            ("Network.requestWillBeSent", requested),
        ):
            tab.subscribe(event, listener)
        for domain in ("Runtime", "Log", "Network", "Page"):
            await tab.send_command(f"{domain}.enable")
        screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        await tab.send_command("Emulation.setDeviceMetricsOverride", params=screen)
        await tab.send_command(
            "Page.navigate", params={"url": page if isinstance(page, str) else page.resolve().as_uri()}
        )
        await asyncio.sleep(0.3)
        for script in (LOADED, *scripts):
            if not isinstance(script, str):
                found.answers.append(await asyncio.to_thread(script))
                continue
            how = {"expression": script, "awaitPromise": True, "returnByValue": True}
            answer = await tab.send_command("Runtime.evaluate", params=how)
            found.answers.append(answer["result"]["result"].get("value"))
        await asyncio.sleep(0.2)
    found.answers = found.answers[1:]
    return found
