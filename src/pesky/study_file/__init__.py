"""The study file: what is asked, where it is kept, what to call and when to stop, in one text for people."""

from pesky.study_file.command import Command, CommandError
from pesky.study_file.function import CallError, Function
from pesky.study_file.mistakes import Mistake, StudyFileError
from pesky.study_file.study_file import StudyFile

__all__ = ["CallError", "Command", "CommandError", "Function", "Mistake", "StudyFile", "StudyFileError"]
