"""What notebooks show of a study, a problem, an evaluation and a recommendation."""

from show.studies import SCRIPT, made
from study.quick import COUPLED, quick

from pesky.markup import facts, sparkline, table


def test_a_study_shows_its_answer_its_progress_and_its_counts():
    study = made("infeasible")
    text = study._repr_html_()
    assert "3 evaluations done" in text
    assert "c &gt;= 0" in text
    assert f"{study.recommend().expected:.6g}" in text
    assert "none yet" in text


def test_a_study_without_data_shows_what_it_asks():
    text = quick()._repr_html_()
    assert "0 evaluations done" in text
    assert "<svg" not in text


def test_problems_evaluations_and_hostile_texts_are_escaped():
    assert "c &gt;= 0, with a confidence of 0.95" in COUPLED._repr_html_()
    study = made("hostile")
    shown = [study.problem._repr_html_(), *(e._repr_html_() for e in study.evaluations.values())]
    assert all(SCRIPT not in text and len(text) < 20_000 for text in shown)
    assert any("&lt;script&gt;" in text for text in shown)


def test_facts_that_say_nothing_are_left_out():
    assert facts({"a": "", "b": [], "c": ["x", "<y>"]}).count("<tr>") == 1
    assert "x<br>&lt;y&gt;" in facts({"c": ["x", "<y>"]})


def test_tables_keep_numbers_exact_for_sorting():
    text = table(["n", "s"], [[1 / 3, "<b>"], [None, True]], "t")
    assert "data-value='0.3333333333333333'>0.333333<" in text
    assert "<td>&lt;b&gt;</td>" in text
    assert "<td></td><td>True</td>" in text


def test_a_sparkline_goes_through_all_values():
    assert sparkline([1.0]) == ""
    assert sparkline([None, 1.0]) == ""
    points = sparkline([3.0, None, 1.0], 108, 18).split("points='")[1].split("'")[0].split()
    assert points == ["4.0,4.0", "104.0,14.0"]
