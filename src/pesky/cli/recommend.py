"""`pesky recommend`: the answer so far."""

import typer

from pesky.cli.arguments import AsJson, StudyPath


def recommend(study: StudyPath, json: AsJson = False) -> None:
    """Print the best parameters known, and how probably they hold every constraint."""
    from pesky.cli.consoles import console, say_json
    from pesky.cli.recommendation import exit_code_of, print_recommendation, to_plain, try_recommend
    from pesky.cli.stored_study import open_study, read_snapshot
    from pesky.study_file import StudyFile

    file = StudyFile.read(study, importing=False)
    read_snapshot(file)
    opened = open_study(file, read_only=True)
    recommendation = try_recommend(opened)
    if json:
        say_json(to_plain(recommendation))
    else:
        print_recommendation(console(), recommendation, opened.problem)
    raise typer.Exit(exit_code_of(recommendation))
