// Where a list comes in: typed, pasted, chosen or dropped.
import {textOf} from "./text.js";

const byId = (id) => document.getElementById(id);

/** `take(text, added)` is called with a list; `added` says that it joins the one before. `refuse(error)` is called if a file is none. */
export function listInput(take, refuse) {
  const [form, field, drop] = ["list-form", "list", "drop"].map(byId);
  const read = async (file) => {
    if (!file) return;
    try { take(await textOf(file), false); } catch (error) { refuse(error); }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    take(field.value, event.submitter?.value === "add");
  });
  byId("file").addEventListener("change", ({target}) => {
    read(target.files[0]);
    target.value = ""; // the same file may be chosen again
  });
  addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  addEventListener("dragleave", () => drop.classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    read(event.dataTransfer?.files[0]);
  });
}
