// The studies of a storage, with how far each is.
"use strict";
import { ago, element, number, shortened } from "/static/dom.js";

export function listed(told, main) {
  document.title = told.storage;
  const rows = told.studies.map((each) => {
    const link = each.study ? element("a", { href: `/?study=${encodeURIComponent(each.study)}` }, each.name) : each.name;
    const counts = Object.entries(each.counts ?? {}).map(([state, count]) => `${count} ${state}`).join(", ");
    const best = each.best === undefined || each.best === null ? "" : `${shortened(each.objective, 40)} = ${number(each.best)}`;
    const last = each.last ? `${ago(Date.now() / 1000 - each.last)} ago` : "";
    const said = each.error ? element("td", { class: "trouble" }, `damaged: ${each.error}`) : element("td", {}, counts);
    return element("tr", {}, element("td", {}, link), said, element("td", {}, best), element("td", {}, last));
  });
  const heads = ["study", "evaluations", "best as measured", "last change"].map((each) => element("th", {}, each));
  const table = element("table", { class: "studies" }, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rows));
  const body = rows.length ? element("div", { class: "wide" }, table) : element("p", {}, "There is no study here yet.");
  main.replaceChildren(element("header", {}, element("h1", {}, `Studies in ${told.storage}`)), body);
}
