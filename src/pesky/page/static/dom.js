// Elements of the page. Texts are only ever put in as texts, so that nobody's name becomes markup.
"use strict";

export function element(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined));
  return made;
}

const MOST = 120;

export function shortened(text, most = MOST) {
  const all = String(text);
  return all.length <= most ? all : `${all.slice(0, most - 1)}…`;
}

export function number(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(6))) : value;
}

export function shown(value, isYesNo = false) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean" || isYesNo) return value ? "yes" : "no";
  return typeof value === "number" ? number(value) : shortened(value, 300);
}

export function facts(said) {
  const rows = Object.entries(said).map(([name, lines]) =>
    element("tr", {}, element("th", {}, shortened(name)), element("td", {}, lines.map((line) => element("div", {}, line)))));
  return element("table", { class: "facts" }, element("tbody", {}, rows));
}

export function ago(seconds) {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`;
}
