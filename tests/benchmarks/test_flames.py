"""Where time goes, as stacks and as bars."""

from time import process_time

import pytest

from benchmarks.flames import bars_of, draw_flames, heaviest, main
from benchmarks.stacks import Stack, sample_stacks


def stack_of(name: str, seconds: float, *callees: Stack) -> Stack:
    return Stack(name, seconds, {each.name: each for each in callees})


def burn(seconds: float) -> None:
    until = process_time() + seconds
    while process_time() < until:
        pass


def test_functions_have_the_shares_of_the_time_that_they_take():
    def brief() -> None:
        burn(0.05)

    def long() -> None:
        burn(0.15)

    def work() -> None:
        brief()
        long()

    whole = Stack("all")
    for _ in range(2):
        sample_stacks(work, whole, __name__)
    (this_test,) = whole.callees.values()
    own = this_test.callees["work"].callees
    share = own["long"].seconds / whole.seconds
    assert own["long"].callees["burn"].seconds > 0
    assert share == pytest.approx(0.75, abs=0.1)
    assert whole.seconds == pytest.approx(0.4, abs=0.1)


def test_one_long_operation_counts_by_its_time():
    """An interrupt waits until it has ended: one sample, of all the time that it took."""

    def operation() -> None:
        sum(range(8_000_000))

    before = process_time()
    whole = Stack("all")
    sample_stacks(operation, whole, __name__)
    assert whole.seconds == pytest.approx(process_time() - before, rel=0.2, abs=0.02)


def test_bars_are_beside_each_other_and_below_their_caller():
    stack = stack_of("ask", 4.0, stack_of("a", 1.0), stack_of("b", 3.0, stack_of("c", 1.5)))
    bars = {bar.name: bar for bar in bars_of(stack, 4.0)}
    assert (bars["b"].left, bars["b"].width, bars["b"].depth) == (0.0, 0.75, 1)
    assert (bars["a"].left, bars["a"].width, bars["a"].depth) == (0.75, 0.25, 1)
    assert (bars["c"].left, bars["c"].depth) == (0.0, 2)


def test_who_merely_calls_another_is_passed_over():
    stack = stack_of("ask", 4.0, stack_of("through", 4.0, stack_of("a", 3.0), stack_of("b", 0.9)))
    assert [bar.name for bar in bars_of(stack, 4.0)] == ["ask", "a", "b"]


def test_what_a_function_calls_is_not_its_own_time():
    stack = stack_of("ask", 4.0, stack_of("a", 3.0, stack_of("b", 2.0)))
    assert heaviest(stack) == [("b", 0.5), ("ask", 0.25), ("a", 0.25)]


def test_the_picture_has_a_panel_for_each_size(tmp_path):
    path = tmp_path / "flames.svg"
    first, second = (stack_of(name, 2.0, stack_of("model.fit.maximize", 1.0)) for name in ("(30,2,2)", "(30,2,20)"))
    draw_flames([(first, 2), (second, 1)], "answer", str(path))
    assert all(path.read_text().count(text) >= 2 for text in ("maximize", "answer"))


def test_the_command_draws_an_ask(tmp_path, capsys):
    main(["--case", "8,1,1", "--figure", str(tmp_path / "flames.png")])
    assert (tmp_path / "flames.png").stat().st_size > 1000
    assert "(8,1,1)" in capsys.readouterr().out
