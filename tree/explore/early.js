const $docs_key_js = (() => {
const NAME = "cardpress-key";
function readKey() {
  try { return sessionStorage.getItem(NAME) ?? ""; } catch { return ""; }
}
function keepKey(key) {
  try {
    if (key) sessionStorage.setItem(NAME, key);
    else sessionStorage.removeItem(NAME);
  } catch { /* without storage, the key is gone with the page */ }
}
function isFirst(name) {
  try {
    const first = sessionStorage.getItem(`${NAME}-${name}`) === null;
    sessionStorage.setItem(`${NAME}-${name}`, "");
    return first;
  } catch { return true; }
}
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
return {readKey, keepKey, isFirst};
})();
const $explore_early_js = (() => {
const {readKey} = $docs_key_js;

function begin(key) {
  const headers = {Authorization: `Bearer ${key}`};
  const paths = ["me", "status"];
  if (["", "#/cards"].includes(location.hash)) paths.push("cards?sort=market&limit=50&offset=0");
  const answers = key ? paths.map((path) => fetch(`/api/v1/${path}`, {headers, credentials: "omit", referrerPolicy: "no-referrer"})) : [];
  for (const answer of answers) answer.catch(() => {}); // what takes it says so
  return {key, answers: new Map(answers.map((answer, at) => [`/api/v1/${paths[at]}`, answer]))};
}

globalThis.early ??= begin(readKey());return {};
})();
