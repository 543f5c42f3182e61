// The page of downloads: the bulk files of the live build, and a line for DuckDB that reads one of them.
import {h, stackedTable} from "./dom.js";
import {bytes, count, day, NONE} from "./words.js";

const COLUMNS = [["File", ""], ["Size", "number"], ["Rows", "number"], ["First day", ""], ["Last day", ""]];
const SAVED_MILLISECONDS = 60_000; // a browser needs the copy until it has saved it

export function downloadsView({api, announce}) {
  const place = h("div");
  const asking = new AbortController();

  async function save(file, button) {
    button.disabled = true;
    try {
      const link = h("a", {href: URL.createObjectURL(await api.file(file.name, asking.signal)), download: file.name});
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MILLISECONDS);
    } catch (error) {
      if (!asking.signal.aborted) announce(error, true);
    }
    button.disabled = false;
  }

  const row = (file) => [
    h("button", {type: "button", class: "quiet", onclick: (event) => save(file, event.currentTarget)}, file.name),
    bytes(file.bytes), count(file.records), file.first_day ? day(file.first_day) : NONE, file.last_day ? day(file.last_day) : NONE,
  ];

  async function load() {
    try {
      const [{files}] = await api.get("bulk", {}, {signal: asking.signal});
      const total = files.reduce((sum, file) => sum + file.bytes, 0);
      const newest = files.filter(({table, format}) => table === "price_guide" && format === "parquet").at(-1) ?? files.find(({format}) => format === "parquet");
      place.replaceChildren(...(newest ? lines(newest) : []), stackedTable("Bulk files", COLUMNS, files.map(row)));
      announce(`${count(files.length)} files, ${bytes(total)}.`);
    } catch (error) {
      if (!asking.signal.aborted) announce(error, true);
    }
  }

  load();
  const view = h("section", {class: "downloads"}, h("h2", {tabindex: "-1"}, "Downloads"),
    h("p", {}, "All products and every day of every price, as files. The ", h("a", {href: "/docs#getBulkFile"}, "reference"),
      " has a script that keeps a copy up to date."), place);
  view.leave = () => asking.abort();
  return view;
}

/** The lines for DuckDB, and a button that copies them. */
function lines(file) {
  const text = `CREATE SECRET (TYPE http, BEARER_TOKEN 'YOUR KEY'); SELECT * FROM '${location.origin}${file.url}' LIMIT 10;`;
  const copy = h("button", {type: "button", onclick: async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  }}, "Copy");
  return [h("h3", {}, "With DuckDB"), h("pre", {class: "code", tabindex: "0", "aria-label": "A query for DuckDB"}, h("code", {}, text)), copy];
}
