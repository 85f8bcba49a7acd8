"""How a study file wants its study to be continued."""

from typing import Any

from pesky.study_file.rule import rule_in
from pesky.study_file.study_file import StudyFile


def settings_in(file: StudyFile) -> dict[str, Any]:
    """The arguments of `Study` that the file gives, but for the problem, its storage and its name."""
    names = ("seed", "initial", "min_probability", "deciding_share", "confirming_share", "tolerance", "device")
    return {
        "strategy": file.strategy,
        "rule": rule_in(file.run),
        **{name: getattr(file.run, name) for name in names},
    }
