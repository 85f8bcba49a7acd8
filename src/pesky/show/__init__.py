"""Pictures of a study, as Plotly figures: how it goes, what is believed, and why a question was asked."""

from pesky.show.belief import belief
from pesky.show.calibration import calibration
from pesky.show.findings import Findings
from pesky.show.importance import importance
from pesky.show.limits import limits
from pesky.show.parallel import parallel
from pesky.show.progress import progress
from pesky.show.report import report
from pesky.show.theme import darkened
from pesky.show.timeline import timeline
from pesky.show.why import why
from pesky.show.write import write

PICTURES = {
    "progress": progress,
    "belief": belief,
    "why": why,
    "limits": limits,
    "importance": importance,
    "parallel": parallel,
    "timeline": timeline,
    "calibration": calibration,
}
"""Every picture by its name, each a function of a study."""

__all__ = [
    "PICTURES",
    "Findings",
    "belief",
    "calibration",
    "darkened",
    "importance",
    "limits",
    "parallel",
    "progress",
    "report",
    "timeline",
    "why",
    "write",
]
