"""`pesky recommend`: the answer so far."""

import typer

from pesky.cli.arguments import AsJson, StudyPath


def recommend(study: StudyPath, json: AsJson = False) -> None:
    """Print the best parameters known, and how probably they hold every constraint."""
    from pesky.cli.advice import advise, code_of, plain, print_advice
    from pesky.cli.consoles import console, say_json
    from pesky.cli.snapshot import look, open_study
    from pesky.study_file import StudyFile

    file = StudyFile.read(study, importing=False)
    look(file)
    opened = open_study(file, read_only=True)
    advice = advise(opened)
    if json:
        say_json(plain(advice))
    else:
        print_advice(console(), advice, opened.problem)
    raise typer.Exit(code_of(advice))
