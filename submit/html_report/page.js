"use strict";
// The page is whole without this: it adds sorting, a filter, and buttons that unfold everything.

const shownText = (cell) => cell.querySelector("time")?.dateTime ?? cell.textContent.trim();

function sortKey(text) {
  const number = Number.parseFloat(text.replaceAll(",", "").replace(/^#/, ""));
  return /^[#+\-−]?[\d,.]+( %)?$/.test(text) && !Number.isNaN(number) ? number : text;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function sortBy(table, column, header) {
  const descending = header.getAttribute("aria-sort") === "ascending";
  const rows = [...table.tBodies[0].rows].map((row) => [sortKey(shownText(row.cells[column])), row]);
  // What has no value stays last, whichever way.
  rows.sort(([a], [b]) => (a === "-") - (b === "-") || (descending ? compare(b, a) : compare(a, b)));
  for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function makeButton(text, action) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...text);
  button.addEventListener("click", action);
  return button;
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    header.append(makeButton([...header.childNodes], () => sortBy(table, column, header)));
  });
}

for (const tools of document.querySelectorAll("[data-for]")) {
  const rows = [...document.getElementById(tools.dataset.for).tBodies[0].rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const input = Object.assign(document.createElement("input"), { type: "search", placeholder: "filter: tag, hash, verdict" });
  input.setAttribute("aria-label", "Filter the versions");
  const count = Object.assign(document.createElement("output"), { className: "small" });
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, index) => { row.hidden = !words.every((word) => texts[index].includes(word)); });
    count.textContent = words.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length}` : "";
  });
  tools.append(input, count);
}

for (const tools of document.querySelectorAll("[data-folds]")) {
  const foldAll = (open) => document.querySelectorAll("details.version").forEach((one) => { one.open = open; });
  tools.append(makeButton(["Unfold all"], () => foldAll(true)), makeButton(["Fold all"], () => foldAll(false)));
}

function unfoldTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) { target.open = true; target.scrollIntoView(); }
}
addEventListener("hashchange", unfoldTarget);
unfoldTarget();
