// The visitor's key. It lasts for the tab: it is in the session storage, which the pages of this host share, and which
// the browser deletes with the tab. It is part of no address: `#key=…` is read once and removed.
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

/** Take the key from the address, if it has one, and remove it there. */
function takeKeyFromAddress() {
  const found = /^#key=([^&]*)&?(.*)$/.exec(location.hash);
  if (!found) return;
  history.replaceState(history.state, "", location.pathname + location.search + (found[2] && `#${found[2]}`));
  try { keepKey(decodeURIComponent(found[1]).trim()); } catch { /* no key */ }
}

takeKeyFromAddress();
addEventListener("hashchange", takeKeyFromAddress);
