"""The exit codes of `pesky`: one table, for programs that call it."""

DONE = 0
OURS = 1
MISTAKE = 2
NOT_YET = 3
STORAGE = 4
SPENT = 5
FAILING = 6
HUNG_UP = 129
INTERRUPTED = 130
TERMINATED = 143

MEANINGS = {
    DONE: "done; of a run: the recommendation is confident",
    OURS: "an error of pesky itself, with a traceback: please report it",
    MISTAKE: "a mistake in the study file or in the arguments",
    NOT_YET: "done, but no point holds every constraint with its confidence yet",
    STORAGE: "the storage cannot be opened, or lacks what was asked for",
    SPENT: "of `ask`: there is no question, since the budget is spent",
    FAILING: "a run was stopped: its first evaluations all failed in the same way",
    INTERRUPTED: "interrupted; what was measured is kept",
    TERMINATED: f"asked to end by SIGTERM, likewise ({HUNG_UP}: by SIGHUP)",
}
