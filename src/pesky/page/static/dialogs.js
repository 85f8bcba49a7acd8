// Forms for whoever measures by hand: each sends one change, and says in place why it was refused.
"use strict";
import { change } from "/static/api.js";
import { element, facts, shortened, shown } from "/static/dom.js";

export class Dialogs {
  // study: () => what is known of it; changed: ids => nothing, told after a change
  constructor(study, changed) {
    this.study = study;
    this.changed = changed;
  }

  async send(name, body) {
    const { study, problem } = this.study();
    const { ids } = await change(name, { study, problem, ...body });
    this.changed(ids);
  }

  // fields: elements; buttons: [{ title, name, body: () => what is sent }], the first of which Enter presses
  open(title, fields, buttons) {
    const trouble = element("p", { class: "trouble", role: "alert" });
    const close = element("button", { type: "button", onclick: () => dialog.close() }, "Close");
    const made = buttons.map((each, i) => element("button", { type: "button", class: i ? undefined : "main", onclick: () => press(i) }, each.title));
    const press = async (i) => {
      for (const each of made) each.disabled = true;
      trouble.textContent = "";
      try {
        await this.send(buttons[i].name, buttons[i].body());
        dialog.close();
      } catch (error) {
        trouble.textContent = error.message;
      } finally {
        for (const each of made) each.disabled = false;
      }
    };
    const submit = (event) => { event.preventDefault(); press(0); };
    const form = element("form", { onsubmit: submit }, element("h2", {}, title), fields, trouble, element("div", { class: "bar" }, made, close));
    form.append(element("input", { type: "submit", hidden: true }));
    const dialog = element("dialog", { onclose: () => dialog.remove() }, form);
    document.body.append(dialog);
    dialog.showModal();
  }

  tell(row) {
    const { form } = this.study();
    const open = (form.tasks[row.task] ?? []).filter((name) => row.outcomes[place(form, name)] === null);
    const inputs = open.map((name) => outcomeField(form, name));
    const body = () => ({ id: row.id, outcomes: collected(inputs) });
    this.open(`What came out of #${row.id}?`, [at(form, row), inputs.map((each) => each.label)], [{ title: "Tell", name: "tell", body }]);
  }

  fail(row) {
    const reason = textField("Why did it fail?");
    const body = () => ({ id: row.id, reason: reason.input.value });
    this.open(`#${row.id} failed`, [at(this.study().form, row), reason.label], [{ title: "It failed", name: "fail", body }]);
  }

  abandon(row) {
    const said = element("p", {}, "Nobody is going to measure it. That is no failure, and nothing is learnt from it.");
    this.open(`Abandon #${row.id}?`, [said], [{ title: "Abandon", name: "abandon", body: () => ({ id: row.id }) }]);
  }

  correct(row) {
    const { form } = this.study();
    const told = form.outcomes.filter((each, i) => row.outcomes[i] !== null).map((each) => each.name);
    const inputs = told.map((name) => outcomeField(form, name, row.outcomes[place(form, name)]));
    const reason = textField("Reason, which is kept and shown");
    const because = () => ({ id: row.id, reason: reason.input.value });
    const body = () => ({ ...because(), outcomes: collected(inputs) });
    const trust = row.state === "excluded" ? { title: "Include again", name: "include", body: because } : { title: "Exclude", name: "exclude", body: because };
    const buttons = told.length ? [{ title: "Correct", name: "correct", body }, trust] : [trust];
    this.open(`Change #${row.id}`, [at(form, row), inputs.map((each) => each.label), reason.label], buttons);
  }

  add() {
    const { form } = this.study();
    const inputs = form.parameters.map(parameterField);
    const outcomes = [...new Set(Object.values(form.tasks).flat())].map((name) => outcomeField(form, name));
    const body = () => ({ params: collected(inputs), outcomes: collected(outcomes) });
    const said = element("p", { class: "faint" }, "A measurement of your own, at parameters of your choice. Leave empty what was not measured.");
    const fields = [said, element("h3", {}, "Where"), inputs.map((each) => each.label), element("h3", {}, "What came out"), outcomes.map((each) => each.label)];
    this.open("Add a measurement", fields, [{ title: "Add", name: "add", body }]);
  }

  enqueue() {
    const { form } = this.study();
    const inputs = form.parameters.map(parameterField);
    const tasks = taskField(form, "all tasks");
    const body = () => ({ params: collected(inputs), task: tasks.value() });
    const said = element("p", { class: "faint" }, "These parameters are measured before anything else, by whoever asks next.");
    this.open("Enqueue", [said, inputs.map((each) => each.label), Object.keys(form.tasks).length > 1 ? tasks.label : null], [{ title: "Enqueue", name: "enqueue", body }]);
  }
}

function at(form, row) {
  return facts(Object.fromEntries(form.parameters.map(({ name }, i) => [name, [shown(row.params[i])]])));
}

function place(form, name) {
  return form.outcomes.findIndex((each) => each.name === name);
}

function collected(inputs) {
  return Object.fromEntries(inputs.map((each) => [each.name, each.value()]));
}

function field(name, input, value = () => input.value) {
  return { name, input, value, label: element("label", {}, shortened(name), input) };
}

function textField(title, value = "") {
  return field(title, element("input", { type: "text", value, maxlength: 2000 }));
}

function selectField(title, options, chosen = 0) {
  const input = element("select", {}, options.map(([text], i) => element("option", { value: i, selected: i === chosen }, shortened(text, 60))));
  return field(title, input, () => options[Number(input.value)][1]);
}

function outcomeField(form, name, value = null) {
  if (form.outcomes[place(form, name)].yes_no) {
    return selectField(name, [["", ""], ["yes", "yes"], ["no", "no"]], value === null ? 0 : value ? 1 : 2);
  }
  return field(name, element("input", { type: "text", inputmode: "decimal", autocomplete: "off", value: value ?? "" }));
}

function parameterField(each) {
  if (each.type === "choice") return selectField(each.name, each.options.map((option) => [shown(option), option]));
  const placeholder = `${each.low} to ${each.high}`;
  return field(each.name, element("input", { type: "text", inputmode: "decimal", autocomplete: "off", placeholder }));
}

export function taskField(form, any) {
  return selectField("task", [[any, null], ...Object.keys(form.tasks).map((name) => [name, name])]);
}
