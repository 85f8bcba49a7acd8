// The pictures: those in view are asked for, and drawn as soon as they are there, in the colors of the page.
"use strict";
import { get } from "/static/api.js";
import { element } from "/static/dom.js";

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
    this.figure = element("figure", { class: "empty", "data-name": name, "aria-label": name }, this.plot, this.caption);
    this.isInView = false;
    watched.observe(this.figure);
  }

  say(text, isWorking = false) {
    if (this.caption.textContent !== text) this.caption.textContent = text;
    this.caption.classList.toggle("working", isWorking);
  }

  async draw(figure) {
    this.drawn = figure;
    const Plotly = await plotly();
    const layout = { ...figure.layout, template: dark.matches ? figure.dark : figure.light, uirevision: this.name };
    const room = this.figure.clientWidth;
    // what has many panels is scrolled on a phone, since it could not be read otherwise
    if (room >= 700 && layout.width && layout.width <= 1100) delete layout.width;
    else if (room < 700) layout.width = Math.max(room, Math.min(layout.width ?? 0, 900), this.name === "progress" || this.name === "timeline" ? 0 : 620);
    this.figure.classList.remove("empty");
    await Plotly.react(this.plot, figure.data, layout, { ...figure.config, ...(room < 700 ? { displayModeBar: false } : {}) });
  }
}

export class Pictures {
  constructor(study) {
    this.study = study;
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
    return [...this.pictures.values()].filter((each) => each.isInView).map((each) => each.name);
  }

  again() {
    for (const each of this.pictures.values()) if (each.drawn) each.draw(each.drawn);
  }

  // told: what the server says of each picture; count: how many evaluations have ended
  async update(told, count, steps, objective) {
    for (const [name, picture] of this.pictures) {
      const { is_drawn: isDrawn, is_current: isCurrent, count: of } = told[name] ?? {};
      if (picture.trouble) picture.say(picture.trouble);
      else if (picture.state === null) picture.say(isDrawn ? "being computed" : "waits for its turn", isDrawn);
      else if (!isCurrent) picture.say(`of ${of} evaluations; ${count} have ended` + (isDrawn ? ", being computed" : ""), isDrawn);
      else picture.say("");
    }
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      const first = this.pictures.get("progress");
      if (first.state === null && told.progress?.state === undefined && steps?.length) await this.sketch(first, steps, objective);
      for (const [name, picture] of this.pictures) {
        const { state } = told[name] ?? {};
        if (state === undefined || state === picture.state) continue;
        const figure = await get("picture", { study: this.study, name });
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
      title: { text: "<b>Best measured so far</b>", x: 0, xref: "container", xanchor: "left", pad: { l: 16 }, font: { size: 17 } }, height: 360, font: text, paper_bgcolor: clear, plot_bgcolor: clear,
      xaxis: { title: { text: "evaluations" }, gridcolor: "#8884" }, yaxis: { gridcolor: "#8884" }, margin: { l: 70, r: 30, t: 60, b: 60 },
    };
    const line = { x: steps.map(([at]) => at), y: steps.map(([, value]) => value), mode: "lines", line: { shape: "hv", color: "#E69F00" }, hovertemplate: "%{y:.6g}<extra></extra>" };
    await picture.draw({ data: [line], layout, light: {}, dark: {}, config: { displayModeBar: false, responsive: true } });
    picture.drawn = null;
  }
}
