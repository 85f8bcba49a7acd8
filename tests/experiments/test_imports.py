"""What runs on a machine with a GPU imports nothing that such a machine may lack."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LACKING = ("matplotlib", "pydantic", "rich", "sqlalchemy", "typer")


def test_computing_needs_no_drawing_and_no_tables():
    modules = (
        "accuracy command compare curves decoupled figure_1ab figure_1c figure_2a figure_2b figure_2c files fitted "
        "lockstep peaks progress settings tables worlds"
    )
    code = (
        f"import sys\nfor name in {modules.split()!r}: __import__('experiments.' + name)\n"
        f"print(*[name for name in {LACKING!r} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
