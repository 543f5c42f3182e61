const $docs_code_js = (() => {

const NUMBER = /(\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/;
const JSON_PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/g;
function parts(comment, text, words) {
  const word = new RegExp(`(?<![-\\w$.])(${words})(?![-\\w])`);
  return new RegExp([comment, text, word, NUMBER].map(({source}) => source).join("|"), "gm");
}

const PARTS = {
  py: parts(/((?<!\S)#.*$)/, /([a-z]{0,2}"""[^]*?"""|\b[a-z]{0,2}"(?:[^"\\\n]|\\.)*"|\b[a-z]{0,2}'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/,
    "False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield"),
  mjs: parts(/((?<![:\w])\/\/.*$|\/\*[^]*?\*\/)/, /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/,
    "async|await|const|else|export|false|for|from|function|if|import|let|new|null|of|return|throw|true|while|yield"),
  sh: parts(/((?<!\S)#.*$)/, /("(?:[^"\\]|\\.)*"|'[^']*')/, "case|curl|do|done|elif|else|esac|exit|export|fi|for|if|in|set|then|while"),
  sql: parts(/(--.*$)/, /('[^']*')/, "ATTACH|AS|AT|BY|CREATE|FROM|GROUP|JOIN|ON|ORDER|SECRET|SELECT|WHERE"),
};
function colour(node, pattern, kindOf) {
  const text = node.textContent;
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    const kind = kindOf(found);
    const length = kind === "name" ? found[1].length : found[0].length;
    parts.push(text.slice(at, found.index), span(kind, found[0].slice(0, length)), found[0].slice(length));
    at = found.index + found[0].length;
  }
  node.replaceChildren(...parts, text.slice(at));
}

function span(kind, text) {
  const node = document.createElement("span");
  node.className = `code-${kind}`;
  node.textContent = text;
  return node;
}

const jsonKind = ([, text, colon, word]) => (colon ? "name" : text ? "text" : word ? "word" : "number");
const codeKind = ([, comment, text, word]) => (comment ? "comment" : text ? "text" : word ? "word" : "number");

const NAMES = {python: "py", javascript: "mjs", console: "sh"}; // of languages in Markdown
function colourCode(node) {
  node.dataset.language = NAMES[node.dataset.language] ?? node.dataset.language;
  if (node.dataset.language === "json") colour(node, JSON_PARTS, jsonKind);
  else if (PARTS[node.dataset.language]) colour(node, PARTS[node.dataset.language], codeKind);
}
function addCopyButton(pre) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.ariaLabel = `Copy: ${pre.ariaLabel ?? "code"}`;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(pre); // without access to the clipboard: select, for Ctrl-C
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  const frame = document.createElement("div");
  frame.className = "copies";
  pre.replaceWith(frame);
  frame.append(pre, button);
}
function dressCode() {
  for (const place of document.querySelectorAll(".origin")) place.replaceWith(location.origin);
  for (const node of document.querySelectorAll("code[data-language]")) colourCode(node);
  for (const pre of document.querySelectorAll("pre.code")) addCopyButton(pre);
}
return {colourCode, addCopyButton, dressCode};
})();
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
const $docs_menu_js = (() => {

const DAY_MILLISECONDS = 86_400_000;
const FRESH_DAYS = 2;

const menu = document.querySelector(".menu");
const [row, said, forget] = ["key-row", "key-name", "forget"].map((id) => document.getElementById(id));
const enter = row.querySelector("a");
function showKey(name) {
  row.hidden = false;
  said.textContent = name ? `Key: ${name}.` : "No key in this tab.";
  [enter.hidden, forget.hidden] = [name !== "", name === ""];
}

const startOf = (time) => Math.floor(time / DAY_MILLISECONDS);
function age(text) {
  const days = startOf(Date.now()) - startOf(Date.parse(text));
  if (!(days >= 0)) return null;
  const words = days === 0 ? "today" : days === 1 ? "yesterday" : `${days} days old`;
  return [words, days <= FRESH_DAYS ? "age fresh" : "age"];
}

for (const time of document.querySelectorAll("time[data-age]")) {
  const [words, kind] = age(time.dateTime) ?? [];
  if (words) time.after(", ", Object.assign(document.createElement("span"), {textContent: words, className: kind}));
}

menu.addEventListener("click", ({target}) => { if (target.closest("a, button")) menu.open = false; });
addEventListener("pointerdown", ({target}) => { if (!menu.contains(target)) menu.open = false; });
addEventListener("keydown", ({key}) => {
  if (key !== "Escape" || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
return {showKey};
})();
const $docs_home_js = (() => {
const {colourCode, dressCode} = $docs_code_js;
const {keepKey, readKey} = $docs_key_js;
const {showKey} = $docs_menu_js;

const byId = (id) => document.getElementById(id);
const [form, input, state, forget] = ["key-form", "key", "key-state", "forget"].map(byId);
const INVITATION = state?.textContent; // a page without the form shows the key alone
let name = ""; // of the key in use

const ask = (url, key) => fetch(url, {
  headers: {Authorization: `Bearer ${key}`}, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
});

function show(text, wrong = false) {
  showKey(name);
  if (state) {
    state.textContent = text;
    state.classList.toggle("error", wrong);
  }
  for (const run of document.querySelectorAll(".run")) run.hidden = readKey() === "";
}
async function enter(key) {
  try {
    const answer = await ask("/api/v1/me", key);
    const body = await answer.json();
    if (!answer.ok) return show(body.error.message, true);
    keepKey(key);
    if (input) input.value = "";
    name = body.name;
    show(`The key “${name}” is in use until you close this tab: ${body.rate_limit} requests a minute.`);
  } catch (error) {
    show(`No answer: ${error.message}`, true);
  }
}

async function run(article) {
  const [said, details] = [article.querySelector(".run span"), article.querySelector("details")];
  const started = performance.now();
  said.textContent = "…";
  try {
    const answer = await ask(article.dataset.url, readKey());
    const body = await answer.json();
    said.textContent = `${answer.status} ${answer.statusText} in ${Math.round(performance.now() - started)} ms`;
    const code = details.querySelector("code");
    code.textContent = JSON.stringify(body, null, 2);
    colourCode(code);
    details.open = true;
  } catch (error) {
    said.textContent = `No answer: ${error.message}`;
  }
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  enter(input.value.trim());
});
forget.addEventListener("click", () => {
  keepKey("");
  name = "";
  show(INVITATION);
  input?.focus();
});
for (const article of document.querySelectorAll(".request")) {
  article.querySelector(".run button").addEventListener("click", () => run(article));
}
dressCode();
fetch("/healthz", {credentials: "omit", referrerPolicy: "no-referrer"}).then((answer) => answer.json()).then(({guests}) => {
  if (guests && byId("key-need")) byId("key-need").textContent = `Without a key you may ask ${Number(guests).toLocaleString("en")} times a minute. A key adds downloads, the scanner and a limit of your own.`;
}).catch(() => {}); // a tree has no such path, and no guests
form?.classList.remove("later");
show(INVITATION);
if (readKey()) enter(readKey());
addEventListener("newkey", () => enter(readKey()));
return {};
})();
