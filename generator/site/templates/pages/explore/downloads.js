// The page of downloads: lines for DuckDB that read all tables, and the bulk files of the live build in groups.
import {h, stackedTable} from "./dom.js";
import {save} from "./files.js";
import {bytes, count, day, NONE, SELLER_FILTER} from "./words.js";

const COLUMNS = [["File", ""], ["Size", "number"], ["Rows", "number"], ["First day", ""], ["Last day", ""]];
const GROUPS = { // the tables of each; those that are named nowhere stand under the last one
  "Catalogue": ["cards", "products", "sets", "identifiers"],
  "Price guide": ["price_guide"],
  "All sellers": ["listings"],
  [SELLER_FILTER]: ["filtered"],
  "More": [],
};
const NAMED = Object.values(GROUPS).flat();

export function downloadsView({api, announce}) {
  const place = h("div");
  const asking = new AbortController();

  async function load(file, button) {
    button.disabled = true;
    try {
      save(await api.file(file.name, asking.signal), file.name);
    } catch (error) {
      if (!asking.signal.aborted) announce(error, true);
    }
    button.disabled = false;
  }

  const row = (file) => [
    h("button", {type: "button", class: "quiet", onclick: (event) => load(file, event.currentTarget)}, file.name),
    bytes(file.bytes), count(file.records), file.first_day ? day(file.first_day) : NONE, file.last_day ? day(file.last_day) : NONE,
  ];

  async function list() {
    try {
      const [{files}] = await api.get("bulk", {}, {signal: asking.signal});
      const total = files.reduce((sum, file) => sum + file.bytes, 0);
      const groups = Object.entries(GROUPS).map(([name, tables]) => [name, files.filter(({table}) => tables.includes(table) ||
        (tables.length === 0 && !NAMED.includes(table)))]);
      place.replaceChildren(...groups.filter(([, some]) => some.length).map(([name, some]) => h("section", {}, h("h3", {}, name),
        stackedTable(name, COLUMNS, newestFirst(some).map(row)))));
      if (files.some(({table}) => table === "catalog")) place.prepend(sql(api.attachment()));
      announce(`${count(files.length)} files, ${bytes(total)}.`);
    } catch (error) {
      if (!asking.signal.aborted) announce(error, true);
    }
  }

  list();
  const view = h("section", {class: "downloads"}, h("h2", {tabindex: "-1"}, "Downloads"),
    h("p", {}, "All products and every day of every price, as files. The ", h("a", {href: "/docs/bulk.html#getBulkFile"}, "reference"),
      " has a script that keeps a copy up to date."), place);
  view.leave = () => asking.abort();
  return view;
}

/** Files by their last day; those of the same day stay in the order of their names. */
const newestFirst = (files) => [...files].sort((one, other) => (other.last_day ?? "").localeCompare(one.last_day ?? ""));

/** The lines with which DuckDB reads all tables, and a button that copies them. */
function sql(text) {
  const copy = h("button", {type: "button", onclick: async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  }}, "Copy");
  return h("section", {}, h("h3", {}, "SQL by one address"),
    h("p", {}, "DuckDB 1.5 has every table after these lines: ", h("code", {}, "FROM cards.price_guide WHERE id_product = …"), ". They hold your key."),
    h("pre", {class: "code", tabindex: "0", "aria-label": "Lines for DuckDB"}, h("code", {}, text)), copy);
}
