// What can be chosen of a picture, as its function takes it. Parameters and options are sent by their places: names may be long.
"use strict";
import { element, shortened, shown } from "/static/dom.js";

const QUESTIONS = 200; // the last ones, which a list has room for

// name: the picture's; form: what the problem is; changed: told when something else was chosen.
// Returns the elements, and `chosen`, which says what was; nothing where there is nothing to choose.
export function optionsOf(name, form, changed) {
  if (name === "progress") {
    const against = select("against", [["evaluations", null], ["cost", "cost"], ["time", "time"]], changed);
    return { elements: [against.label], chosen: () => given({ against: against.value() }) };
  }
  if (name === "belief") {
    const along = parametersOf(form, form.parameters.length > 6 ? "those that matter most" : "all", changed), at = pointOf(form, changed);
    const chosen = () => given({ along: along.value(), at: at.value() });
    return form.parameters.length > 1 ? { elements: [...along.elements, at.element], chosen } : undefined;
  }
  if (name !== "why") return undefined;
  const question = select("question", [["the last", null]], changed);
  const along = parametersOf(form, "all", changed);
  question.label.hidden = true;
  const setQuestions = (rows) => {
    const last = rows.map((row) => [`#${row.id} ${row.task}`, row.id]).sort(([, a], [, b]) => b - a).slice(0, QUESTIONS);
    question.set([["the last", null], ...last]);
    question.label.hidden = last.length < 2;
  };
  return { elements: [question.label, ...along.elements], setQuestions, chosen: () => given({ along: along.value(), evaluation: question.value() }) };
}

// what is not chosen is not sent
function given(options) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
}

function select(title, options, changed) {
  const input = element("select", { "aria-label": title, onchange: changed });
  let values = [];
  const set = (each) => {
    const before = values[input.selectedIndex] ?? null;
    if (each.length === values.length && each.every(([, value], i) => value === values[i])) return;
    values = each.map(([, value]) => value);
    input.replaceChildren(...each.map(([text], i) => element("option", { selected: values[i] === before }, shortened(text, 40))));
  };
  set(options);
  return { input, set, value: () => values[input.selectedIndex] ?? null, label: element("label", {}, `${title} `, input) };
}

// one parameter, or two, or as the picture has it by itself
function parametersOf(form, all, changed) {
  const names = form.parameters.map(({ name }, i) => [name, i]);
  const first = select("along", [[all, null], ...names], () => { show(); changed(); });
  const second = select("and", [["alone", null], ...names], changed);
  const show = () => {
    second.label.hidden = first.value() === null || names.length < 2;
    second.set([["alone", null], ...names.filter(([, i]) => i !== first.value())]);
  };
  show();
  const value = () => (first.value() === null ? null : [first.value(), second.value()].filter((each) => each !== null));
  return { elements: names.length > 1 ? [first.label, second.label] : [], value };
}

// where the other parameters are: as the answer has them, unless something is typed
function pointOf(form, changed) {
  const inputs = form.parameters.map((each) => {
    if (each.type === "choice") return select(each.name, [["as in the answer", null], ...each.options.map((option, i) => [shown(option), i])], changed);
    const input = element("input", { type: "text", inputmode: "decimal", autocomplete: "off", placeholder: `${each.low} to ${each.high}`, onchange: changed });
    return { value: () => input.value.trim() || null, label: element("label", {}, `${shortened(each.name, 40)} `, input) };
  });
  const value = () => {
    const at = given(Object.fromEntries(inputs.map((each, i) => [i, each.value()])));
    return Object.keys(at).length ? at : null;
  };
  return { element: element("details", {}, element("summary", {}, "others as in the answer, or at …"), inputs.map((each) => each.label)), value };
}
