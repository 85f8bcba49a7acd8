"""A real Chromium, for tests of what is seen in one."""

import pytest
from choreographer.utils import get_browser_path

CHROMIUM = get_browser_path(("chromium", "google-chrome", "chrome"))
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium: `apt-get install chromium`, or name one in BROWSER_PATH"
)
