// The page of one study: it asks once a second what has changed, and shows that.
"use strict";
import { change, get, Refused } from "/static/api.js";
import { Dialogs, taskField } from "/static/dialogs.js";
import { ago, element, facts, number, shortened, shown } from "/static/dom.js";
import { Pictures } from "/static/pictures.js";
import { SortedTable } from "/static/table.js";

const EVERY = 1000; // milliseconds

export class StudyPage {
  // told: all of the study, as it was when the page was opened
  constructor(told, main) {
    const { study } = told;
    this.known = { study, revision: -1, problem: "", state: "" };
    this.rows = new Map();
    this.just = new Map(); // when rows changed that were not there at first
    this.pictures = new Pictures(study, () => this.poll());
    this.dialogs = new Dialogs(() => this.known, (ids) => { this.asked = new Set(ids); this.poll(); });
    this.parts = {};
    for (const each of ["answer", "open", "failures", "evaluations", "problem", "versions"]) this.parts[each] = element("div", { id: `part-${each}` });
    this.title = element("h1");
    this.live = element("p", { class: "live", role: "status" }, "reading");
    this.numbers = element("ul", { class: "numbers" });
    this.bar = element("div", { class: "bar" });
    this.sections = {};
    main.replaceChildren(
      element("header", {}, this.title, this.live), this.numbers, this.bar,
      this.section("The answer", "answer"), this.section("Being measured", "open"),
      element("section", {}, element("h2", {}, "Pictures"), this.pictures.elements),
      this.section("Failures", "failures"), this.section("All evaluations", "evaluations"),
      this.section("The problem", "problem"), this.section("Versions and seed", "versions"),
    );
    this.table = new SortedTable("evaluations", this.parts.evaluations);
    this.failed = new SortedTable("failures", this.parts.failures);
    this.parts.answer.append(element("p", { class: "faint working" }, "being computed"));
    document.addEventListener("visibilitychange", () => document.hidden || this.poll());
    setInterval(() => document.hidden || this.poll(), EVERY);
    this.take(told);
  }

  section(title, name) {
    const head = element("h2", {}, title);
    this.sections[name] = element("section", { hidden: name === "failures" || name === "open" }, head, this.parts[name]);
    return this.sections[name];
  }

  head(name, text) {
    this.sections[name].firstChild.textContent = text;
  }

  async poll() {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      const { study, revision, problem, state } = this.known;
      const asked = { study, problem, state, want: ["answer", ...this.pictures.wanted()] };
      const told = await get("study", revision < 0 ? asked : { ...asked, since: revision });
      this.take(told);
      for (const say of this.ages ?? []) say();
      this.live.textContent = "live";
      this.live.classList.remove("away");
    } catch (error) {
      const isOurs = error instanceof Refused;
      this.live.textContent = isOurs ? shortened(error.message, 300) : "the page is not served any more; trying again";
      this.live.classList.add("away");
    } finally {
      this.isAsking = false;
    }
  }

  take(told) {
    const isFirst = this.known.revision < 0;
    if (told.problem) {
      this.rows.clear();
      this.known.problem = told.problem;
      Object.assign(this.known, { form: told.form, canWrite: told.can_write });
      document.title = this.title.textContent = told.name;
      this.parts.problem.replaceChildren(facts(told.form.words));
      this.parts.versions.replaceChildren(facts(told.versions));
      this.buttons(told.studies);
      this.pictures.setForm(told.form);
    }
    if (told.rows) {
      const now = Date.now();
      for (const row of told.rows) {
        const before = this.rows.get(row.id);
        if (!isFirst && !told.problem && (!before || before.state !== row.state)) this.just.set(row.id, now);
        this.rows.set(row.id, row);
      }
      Object.assign(this.known, { counts: told.counts, best: told.best, bestName: told.best_name, steps: told.steps });
      this.show();
      this.pictures.setQuestions([...this.rows.values()].filter((row) => row.is_chosen));
    }
    Object.assign(this.known, { revision: told.revision, state: told.state });
    this.answer(told.pictures.answer).catch(() => { this.answerState = undefined; }); // asked for again at the next look
    const ended = [...this.rows.values()].filter((row) => ["done", "failed", "yours", "excluded"].includes(row.state)).length;
    this.pictures.update(told.pictures, ended, this.known.steps, this.known.form.objective).catch((error) => {
      this.live.textContent = error.message;
    });
  }

  async answer(told) {
    if (!told?.state && told?.state !== "") return;
    const said = this.parts.answer;
    if (told.state !== this.answerState) {
      this.answerState = told.state;
      const found = await get("picture", { study: this.known.study, name: "answer" });
      const text = found.missing ?? found.error;
      said.replaceChildren(text === undefined ? facts(found.facts) : element("p", {}, shortened(text, 500)), element("p", { class: "faint" }));
    }
    const note = said.lastChild;
    const isOld = !told.is_current && told.state !== "";
    note.textContent = isOld ? `by ${told.count} evaluations; being computed anew` : "";
    note.classList.toggle("working", isOld);
  }

  buttons(studies) {
    const { form, canWrite } = this.known;
    const made = [];
    if (canWrite) {
      const tasks = taskField(form, "the task that tells most");
      const ask = element("button", { class: "main", id: "ask", onclick: () => this.ask(ask, tasks.value(), false) }, "Ask what to measure");
      made.push(ask);
      if (Object.keys(form.tasks).length > 1) made.push(tasks.input);
      const what = "What was not measured yet at the point that would be recommended; if all was, what tells most";
      const confirm = element("button", { id: "confirm", title: what, onclick: () => this.ask(confirm, tasks.value(), true) }, "Confirm the answer");
      made.push(confirm, element("button", { id: "add", onclick: () => this.dialogs.add() }, "Add a measurement…"));
      made.push(element("button", { id: "enqueue", onclick: () => this.dialogs.enqueue() }, "Enqueue…"));
    }
    if (studies > 1) made.push(element("a", { href: "/?list" }, `all ${studies} studies`));
    this.said = element("span", { class: "trouble", role: "alert" });
    this.bar.replaceChildren(...made, this.said);
  }

  async ask(button, task, confirm) {
    button.disabled = true;
    const before = button.textContent;
    button.textContent = "deciding…";
    this.said.textContent = "";
    try {
      const { study, problem } = this.known;
      const { ids } = await change("ask", { study, problem, task, confirm });
      this.asked = new Set(ids);
      await this.poll();
      this.show();
      this.sections.open.scrollIntoView({ behavior: "smooth", block: "start" });
    } catch (error) {
      this.said.textContent = error.message;
    } finally {
      button.disabled = false;
      button.textContent = before;
    }
  }

  show() {
    const rows = [...this.rows.values()];
    const { form, counts, best, bestName } = this.known;
    const numbers = Object.entries(counts).map(([state, count]) => [count, state]);
    if (best !== null) numbers.push([number(best), `${bestName} ${shortened(form.objective, 40)}`]);
    if (!rows.length) numbers.push(["0", "evaluations"]);
    this.numbers.replaceChildren(...numbers.map(([value, title]) => element("li", {}, element("b", {}, String(value)), element("span", {}, title))));
    this.showOpen(rows.filter((row) => row.is_open || row.state === "queued"));
    const failed = rows.filter((row) => row.state === "failed" || row.state === "lost");
    this.sections.failures.hidden = !failed.length;
    this.head("failures", `Failures (${failed.length})`);
    const params = form.parameters.map(({ name }, i) => ({ title: name, value: (row) => row.params[i] }));
    const [id, task] = [{ title: "#", value: (row) => row.id }, { title: "task", value: (row) => row.task }];
    const state = { title: "state", value: (row) => row.state }, reason = { title: "reason", value: (row) => row.reason };
    if (failed.length) this.failed.update([id, task, state, reason, ...params], failed);
    this.head("evaluations", `All evaluations (${rows.length})`);
    const outcomes = form.outcomes.map(({ name, yes_no: isYesNo }, i) => ({ title: name, value: (row) => row.outcomes[i], cell: isYesNo ? (row) => shown(row.outcomes[i], true) : undefined }));
    const more = [
      { title: "feasible", value: (row) => row.feasible },
      state,
      { title: "gain", value: (row) => row.gain },
      { title: "seconds", value: (row) => row.seconds },
      { title: "worker", value: (row) => row.worker },
      { title: "ended", value: (row) => row.ended, cell: (row) => (row.ended === null ? "" : new Date(row.ended * 1000).toLocaleString()) },
      reason,
    ].filter((each) => rows.some((row) => ![null, ""].includes(each.value(row))));
    const edit = (row) => element("button", { class: "small", onclick: () => this.dialogs.correct(this.rows.get(row.id)) }, "change…");
    const write = this.known.canWrite ? [{ title: "", value: () => null, cell: (row) => (row.outcomes.some((each) => each !== null) || row.state === "excluded" ? edit(row) : "") }] : [];
    const tasks = Object.keys(form.tasks).length > 1 ? [task] : [];
    const now = Date.now();
    this.table.update([id, ...tasks, ...params, ...outcomes, ...more, ...write], rows, (row) => now - (this.just.get(row.id) ?? 0) < 5000);
  }

  showOpen(open) {
    this.sections.open.hidden = !open.length;
    this.head("open", `Being measured (${open.length})`);
    this.ages = [];
    const shownFirst = open.sort((a, b) => (this.asked?.has(b.id) ?? 0) - (this.asked?.has(a.id) ?? 0) || b.id - a.id).slice(0, 60);
    const cards = shownFirst.map((row) => {
      const { form } = this.known;
      const act = (title, name, isMain) => element("button", { class: isMain ? "small main" : "small", onclick: () => this.dialogs[name](this.rows.get(row.id)) }, title);
      const buttons = row.state === "queued" ? [act("Abandon", "abandon")] : [act("Tell…", "tell", true), act("Failed…", "fail"), act("Abandon", "abandon")];
      const by = row.worker ? ` by ${row.worker}` : "", age = element("div", { class: "faint" });
      const say = () => { age.textContent = `${row.state} for ${ago(Date.now() / 1000 - row.asked)}${by}`; };
      say();
      this.ages.push(say);
      const at = Object.fromEntries(form.parameters.map(({ name }, i) => [name, [shown(row.params[i])]]));
      return element("div", { class: this.asked?.has(row.id) ? "card new" : "card", "data-id": row.id },
        element("h3", {}, `#${row.id} ${shortened(row.task, 60)}`),
        age, facts(at),
        this.known.canWrite ? element("div", { class: "bar" }, buttons) : null);
    });
    const rest = open.length - cards.length;
    this.parts.open.replaceChildren(element("div", { class: "cards" }, cards), rest > 0 ? element("p", { class: "faint" }, `and ${rest} more`) : "");
  }
}
