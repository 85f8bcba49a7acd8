"use strict";
// Pictures are drawn when they come into view, in the colors of the page; tables are sorted by the header that is clicked.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const drawn = new Set();

  function draw(place) {
    const figure = data.figures[Number(place.dataset.figure)];
    const layout = fitted({ ...figure.layout, template: dark.matches ? data.dark : data.light }, place.parentNode.clientWidth);
    drawn.add(place);
    Plotly.react(place, figure.data, layout, { ...data.config, ...(place.parentNode.clientWidth < 700 ? { displayModeBar: false } : {}) });
  }

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting && !drawn.has(entry.target)) draw(entry.target);
    }
  }, { rootMargin: "400px" });
  document.querySelectorAll(".picture").forEach((place) => seen.observe(place));
  const all = () => document.querySelectorAll(".picture").forEach(draw);
  dark.addEventListener("change", () => drawn.forEach(draw));
  window.addEventListener("beforeprint", all);

  function sort(header) {
    const table = header.closest("table"), body = table.tBodies[0], column = header.cellIndex;
    const up = header.dataset.order !== "up";
    table.querySelectorAll("th").forEach((each) => delete each.dataset.order);
    header.dataset.order = up ? "up" : "down";
    const value = (row) => {
      const cell = row.cells[column];
      return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
    };
    const rank = (each) => (each === "" ? 2 : typeof each === "number" ? 0 : 1); // what is empty comes last
    const rows = Array.from(body.rows, (row) => [value(row), row]);
    rows.sort(([a], [b]) => {
      if (rank(a) !== rank(b)) return rank(a) === 2 ? 1 : rank(b) === 2 ? -1 : rank(a) - rank(b);
      const order = typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0;
      return up ? order : -order;
    });
    body.append(...rows.map(([, row]) => row));
  }
  document.querySelectorAll(".sortable th").forEach((header) => header.addEventListener("click", () => sort(header)));
})();
