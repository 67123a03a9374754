
"use strict";
(() => {
  // a link into a closed section opens it
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let node = target; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
    }
    target.scrollIntoView();
    if (target.tabIndex === -1 && target.hasAttribute("tabindex")) target.focus({ preventScroll: true });
  };
  addEventListener("hashchange", reveal);
  // the same link again changes no hash
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) reveal();
  });
  reveal();

  const table = document.getElementById("runs-table");
  if (!table) return;
  const body = table.tBodies[0];
  const words = new Intl.Collator("en", { numeric: true });
  const value = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.sort === undefined) return cell.textContent;
    return cell.dataset.sort === "" ? null : Number(cell.dataset.sort);
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : words.compare(String(a), String(b));
  const sort = (head, column) => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    const rows = [...body.rows].map((row) => [value(row, column), row]);
    // what was not measured is neither small nor large
    const known = rows.filter(([key]) => key !== null);
    const unknown = rows.filter(([key]) => key === null);
    known.sort(([a], [b]) => (up ? compare(a, b) : compare(b, a)));
    body.append(...known.concat(unknown).map(([, row]) => row));
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(head, column));
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
  });

  const input = document.getElementById("filter");
  const count = document.getElementById("filter-count");
  const rows = [...body.rows].map((row) => [row, [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase()]);
  const filter = () => {
    const terms = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [row, text] of rows) {
      row.hidden = !terms.every((term) => text.includes(term));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${rows.length} runs`;
  };
  input.addEventListener("input", filter);
  document.querySelector(".filter").hidden = false;
  filter();
})();
