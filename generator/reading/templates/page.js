"use strict";
(() => {
  const bar = document.getElementById("filters"), kind = document.getElementById("kind"), set = document.getElementById("set");
  bar.hidden = false;
  const measure = () => document.documentElement.style.setProperty("--bar", bar.offsetHeight + "px");
  addEventListener("resize", measure);
  measure();
  const filter = () => {
    for (const row of document.querySelectorAll("tr[data-kind]"))
      row.hidden = (kind.value !== "all" && row.dataset.kind !== kind.value) || (set?.value && row.dataset.set !== set.value);
    for (const part of document.querySelectorAll("[data-view]")) part.toggleAttribute("data-away", part.dataset.view !== kind.value);
    for (const table of document.querySelectorAll("table")) {
      const rows = [...table.tBodies[0].rows], empty = rows.length > 0 && rows.every((row) => row.hidden);
      table.hidden = empty;
      let none = table.parentElement.querySelector(".unmatched");
      if (empty && !none) {
        none = document.createElement("p");
        none.className = "none unmatched";
        none.textContent = "No row of this list matches the filters.";
        table.after(none);
      }
      if (none) none.hidden = !empty;
    }
  };
  kind.onchange = filter;
  if (set) set.onchange = filter;
  filter();
  const value = (row, column) => {
    const cell = row.cells[column], text = cell.dataset.v;
    return text === undefined ? cell.textContent.toLowerCase() : text === "" ? null : Number(text);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.onclick = () => {
        const number = head.classList.contains("n");
        const falling = ["ascending", "descending"].includes(head.ariaSort) ? head.ariaSort === "ascending" : number;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => {
          const x = value(a, column), y = value(b, column);
          if (x === null || y === null) return (x === null) - (y === null);
          const order = typeof x === "number" ? x - y : x.localeCompare(y);
          return falling ? -order : order;
        });
        table.tBodies[0].append(...rows);
      };
    });
  }
})();
