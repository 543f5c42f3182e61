// The visitor's key. It lasts for the tab: it is in the session storage, which the pages of this host share, and which
// the browser deletes with the tab. It is part of no address: `#key=…` is read once and removed. In a tab that is open
// already, the event `newkey` says so.
const NAME = "cardpress-key";

/** The key of this tab, or "". */
export function readKey() {
  try { return sessionStorage.getItem(NAME) ?? ""; } catch { return ""; }
}

/** Remember a key for this tab; "" forgets it. */
export function keepKey(key) {
  try {
    if (key) sessionStorage.setItem(NAME, key);
    else sessionStorage.removeItem(NAME);
  } catch { /* without storage, the key is gone with the page */ }
}

/** Whether this is the first time in this tab that something is asked by this name. */
export function isFirst(name) {
  try {
    const first = sessionStorage.getItem(`${NAME}-${name}`) === null;
    sessionStorage.setItem(`${NAME}-${name}`, "");
    return first;
  } catch { return true; }
}

/** Take the key from the address, and remove it there. Return whether there was one. */
function takeKeyFromAddress() {
  const found = /^#key=([^&]*)&?(.*)$/.exec(location.hash);
  if (!found) return false;
  history.replaceState(history.state, "", location.pathname + location.search + (found[2] && `#${found[2]}`));
  try { keepKey(decodeURIComponent(found[1]).trim()); } catch { /* no key */ }
  return true;
}

takeKeyFromAddress();
addEventListener("hashchange", (event) => {
  if (!takeKeyFromAddress()) return;
  event.stopImmediatePropagation(); // the rest of the address is shown with the new key
  dispatchEvent(new Event("newkey"));
});
