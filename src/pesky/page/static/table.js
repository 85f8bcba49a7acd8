// A table that is sorted by the header that is clicked. Of many rows the first are laid out, and the others when asked for.
"use strict";
import { element, shortened, shown } from "/static/dom.js";

const FIRST = 300;

export class SortedTable {
  // columns: [{ title, value: row => what it is sorted by, cell: row => what is shown, if that is another thing }]
  constructor(identity, place) {
    this.identity = identity;
    this.place = place;
    this.by = 0;
    this.isUp = false;
    this.isWhole = false;
  }

  update(columns, rows, isNew = () => false) {
    this.columns = columns;
    this.rows = rows;
    this.isNew = isNew;
    this.draw();
  }

  draw() {
    const column = this.columns[Math.min(this.by, this.columns.length - 1)];
    const sorted = this.rows.map((row) => [column.value(row), row]).sort(([a], [b]) => compared(a, b, this.isUp));
    const laid = this.isWhole ? sorted : sorted.slice(0, FIRST);
    const heads = this.columns.map((each, i) => {
      const order = i === this.by ? (this.isUp ? "up" : "down") : undefined;
      const sorting = { up: "ascending", down: "descending" }[order];
      return element("th", { "data-order": order, "aria-sort": sorting, title: shortened(each.title, 300), onclick: () => this.sort(i) },
        shortened(each.title, 40));
    });
    const body = laid.map(([, row]) => element("tr", { class: this.isNew(row) ? "just" : undefined },
      this.columns.map((each) => cell(each.cell ? each.cell(row) : each.value(row)))));
    const table = element("table", { id: this.identity, class: "sortable" },
      element("thead", {}, element("tr", {}, heads)), element("tbody", {}, body));
    const wide = this.place.querySelector(".wide");
    const [top, left] = wide ? [wide.scrollTop, wide.scrollLeft] : [0, 0];
    const rest = sorted.length - laid.length;
    const more = rest > 0 ? element("p", {}, element("button", { onclick: () => { this.isWhole = true; this.draw(); } }, `show ${rest} more`)) : null;
    const scrolled = element("div", { class: "wide" }, table);
    this.place.replaceChildren(...[scrolled, more].filter(Boolean));
    [scrolled.scrollTop, scrolled.scrollLeft] = [top, left];
  }

  sort(column) {
    this.isUp = this.by === column ? !this.isUp : true;
    this.by = column;
    this.draw();
  }
}

function cell(value) {
  if (value instanceof Node) return element("td", {}, value);
  const text = shown(value);
  return element("td", typeof value === "number" ? { class: "number", title: String(value) } : { title: text.length > 30 ? text : undefined }, text);
}

function compared(a, b, isUp) {
  const empty = (each) => each === null || each === undefined || each === "";
  if (empty(a) || empty(b)) return empty(a) - empty(b); // what is empty comes last
  if (typeof a !== typeof b) return typeof a < typeof b ? -1 : 1;
  const order = a < b ? -1 : a > b ? 1 : 0;
  return isUp ? order : -order;
}
