"""`pesky recommend`: the answer so far."""

import typer

from pesky.cli.arguments import AsJson, LookedAt, StudyName


def recommend(study: LookedAt, name: StudyName = None, json: AsJson = False) -> None:
    """Print the parameters to use, how sure that is, whether they were measured, and the best that were."""
    from pesky.cli.consoles import console, say_json
    from pesky.cli.recommendation import exit_code_of, print_recommendation, to_plain, try_best, try_recommend
    from pesky.cli.stored_study import Looked

    looked = Looked.of(study, name)
    looked.read()
    opened = looked.open()
    recommendation, best = try_recommend(opened), try_best(opened)
    if json:
        plain = to_plain(recommendation)
        say_json(plain if plain is None else {**plain, "best": to_plain(best)})
    else:
        print_recommendation(console(), recommendation, best, opened.problem)
    raise typer.Exit(exit_code_of(recommendation))
