"""`pesky recommend`: the answer so far."""

import typer

from pesky.cli.arguments import AsJson, StudyPath


def recommend(study: StudyPath, json: AsJson = False) -> None:
    """Print the parameters to use, how sure that is, whether they were measured, and the best that were."""
    from pesky.cli.consoles import console, say_json
    from pesky.cli.recommendation import exit_code_of, print_recommendation, to_plain, try_best, try_recommend
    from pesky.cli.stored_study import open_study, read_snapshot
    from pesky.study_file import StudyFile

    file = StudyFile.read(study, importing=False)
    read_snapshot(file)
    opened = open_study(file, read_only=True)
    recommendation, best = try_recommend(opened), try_best(opened)
    if json:
        plain = to_plain(recommendation)
        say_json(plain if plain is None else {**plain, "best": to_plain(best)})
    else:
        print_recommendation(console(), recommendation, best, opened.problem)
    raise typer.Exit(exit_code_of(recommendation))
