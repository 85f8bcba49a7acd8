// The pictures: those in view are asked for, and drawn as soon as they are there, in the colors of the page.
"use strict";
import { get } from "/static/api.js";
import { element } from "/static/dom.js";
import { optionsOf } from "/static/options.js";
import "/static/fit.js";

const NAMES = ["progress", "belief", "why", "limits", "importance", "parallel", "timeline", "calibration"];
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let loading = null;

function plotly() {
  loading ??= new Promise((done, fail) => {
    document.head.append(element("script", { src: "/plotly.js", onload: () => done(window.Plotly), onerror: () => fail(new Error("plotly.js could not be loaded")) }));
  });
  return loading;
}

class Picture {
  constructor(name, watched) {
    this.name = name;
    this.state = null; // of what is drawn
    this.plot = element("div", { class: "picture-live" });
    this.caption = element("figcaption");
    this.options = element("div", { class: "options", hidden: true });
    this.figure = element("figure", { class: "empty", "data-name": name, "aria-label": name }, this.options, this.plot, this.caption);
    this.isInView = false;
    watched.observe(this.figure);
  }

  // what the server knows the picture by: its name, and what is to be seen if that was chosen
  get key() {
    const given = this.chosen?.() ?? {};
    return Object.keys(given).length ? `${this.name} ${JSON.stringify(given)}` : this.name;
  }

  // another one is to be seen: this one is, faintly, until that is there
  isAnother() {
    this.state = null;
    this.trouble = undefined;
    this.plot.classList.add("faint-plot");
    this.say("waits for its turn");
  }

  say(text, isWorking = false) {
    if (this.caption.textContent !== text) this.caption.textContent = text;
    this.caption.classList.toggle("working", isWorking);
  }

  async draw(figure) {
    this.drawn = figure;
    const Plotly = await plotly();
    const room = this.figure.clientWidth;
    const layout = window.fitted({ ...figure.layout, template: dark.matches ? figure.dark : figure.light, uirevision: this.key }, room);
    this.figure.classList.remove("empty");
    this.plot.classList.remove("faint-plot");
    await Plotly.react(this.plot, figure.data, layout, { ...figure.config, ...(room < 700 ? { displayModeBar: false } : {}) });
  }
}

export class Pictures {
  // changed: told when other pictures are wanted than before
  constructor(study, changed) {
    this.study = study;
    this.changed = changed;
    this.pictures = new Map();
    this.isBusy = false;
    const watched = new IntersectionObserver((entries) => {
      for (const entry of entries) this.pictures.get(entry.target.dataset.name).isInView = entry.isIntersecting;
    }, { rootMargin: "300px" });
    for (const name of NAMES) this.pictures.set(name, new Picture(name, watched));
    this.elements = [...this.pictures.values()].map((each) => each.figure);
    dark.addEventListener("change", () => this.again());
  }

  wanted() {
    return [...this.pictures.values()].filter((each) => each.isInView).map((each) => each.key);
  }

  // the problem is known now, or is another one: what can be chosen of each picture
  setForm(form) {
    for (const picture of this.pictures.values()) {
      const made = optionsOf(picture.name, form, () => { picture.isAnother(); this.changed(); });
      if (picture.chosen?.() && Object.keys(picture.chosen()).length) picture.isAnother();
      Object.assign(picture, { chosen: made?.chosen, setQuestions: made?.setQuestions });
      picture.options.replaceChildren(...(made?.elements ?? []));
      picture.options.hidden = !made?.elements.length;
    }
  }

  setQuestions(rows) {
    for (const picture of this.pictures.values()) picture.setQuestions?.(rows);
  }

  again() {
    for (const each of this.pictures.values()) if (each.drawn) each.draw(each.drawn);
  }

  // told: what the server says of each picture; count: how many evaluations have ended
  async update(told, count, steps, objective) {
    for (const picture of this.pictures.values()) {
      const { is_drawn: isDrawn, is_current: isCurrent, count: of } = told[picture.key] ?? {};
      if (picture.trouble) picture.say(picture.trouble);
      else if (picture.state === null) picture.say(`${picture.drawn ? "" : `${picture.name}: `}${isDrawn ? "being computed" : "waits for its turn"}`, isDrawn);
      else if (!isCurrent) picture.say(`of ${of} evaluations; ${count} have ended` + (isDrawn ? ", being computed" : ""), isDrawn);
      else picture.say("");
    }
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      const first = this.pictures.get("progress");
      if (first.state === null && !first.drawn && told.progress?.state === undefined && steps?.length) await this.sketch(first, steps, objective);
      for (const picture of this.pictures.values()) {
        const { key } = picture;
        const { state } = told[key] ?? {};
        if (state === undefined || state === picture.state) continue;
        const figure = await get("picture", { study: this.study, name: key });
        if (picture.key !== key) continue; // something else was chosen meanwhile
        picture.trouble = figure.error;
        if (!figure.error) await picture.draw(figure);
        picture.state = figure.error ? null : state;
      }
    } finally {
      this.isBusy = false;
    }
  }

  // what needs no model is seen at once, until the whole picture is there
  async sketch(picture, steps, objective) {
    const text = { color: getComputedStyle(document.body).color };
    const clear = "rgba(0,0,0,0)";
    const layout = {
      title: { text: "<b>Best as measured so far</b>", x: 0, xref: "container", xanchor: "left", pad: { l: 16 }, font: { size: 17 } }, height: 360, font: text, paper_bgcolor: clear, plot_bgcolor: clear,
      xaxis: { title: { text: "evaluations" }, gridcolor: "#8884" }, yaxis: { gridcolor: "#8884" }, margin: { l: 70, r: 30, t: 60, b: 60 },
    };
    const line = { x: steps.map(([at]) => at), y: steps.map(([, value]) => value), mode: "lines", line: { shape: "hv", color: "#E69F00" }, hovertemplate: "%{y:.6g}<extra></extra>" };
    await picture.draw({ data: [line], layout, light: {}, dark: {}, config: { displayModeBar: false, responsive: true } });
    picture.drawn = null;
  }
}
