"""Pictures of a study, as Plotly figures: how it goes, what is believed, and why a question was asked."""

from pesky.show.belief import belief
from pesky.show.findings import Findings
from pesky.show.importance import importance
from pesky.show.progress import progress
from pesky.show.theme import darkened
from pesky.show.timeline import timeline
from pesky.show.write import write

PICTURES = {
    "progress": progress,
    "belief": belief,
    "importance": importance,
    "timeline": timeline,
}
"""Every picture by its name, each a function of a study."""

__all__ = ["PICTURES", "Findings", "belief", "darkened", "importance", "progress", "timeline", "write"]
