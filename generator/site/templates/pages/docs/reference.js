// The script of the reference: forms that try an endpoint. The key stays in this variable until the page is left.
let key = "";
const MOST_SHOWN = 200_000;

/** An element with properties and children. */
function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** Return the URL of a form: the path with its parameters, and a query of the other fields that are not empty. */
function target(path, inputs) {
  const query = new URLSearchParams();
  for (const {name, place, input} of inputs) {
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(input.value));
    else if (input.value !== "") query.append(name, input.value);
  }
  return query.size ? `${path}?${query}` : path;
}

function inputOf({name, choices, example, in: place}) {
  const properties = {required: place === "path", autocomplete: "off", spellcheck: false};
  if (!choices) return element("input", {...properties, type: "text", value: place === "path" ? example : ""});
  return element("select", properties, new Option("", ""), ...choices.split(" ").map((choice) => new Option(choice)));
}

function keyInput() {
  const input = element("input", {type: "password", value: key, autocomplete: "off", spellcheck: false, className: "key"});
  input.addEventListener("input", () => {
    key = input.value.trim();
    for (const other of document.querySelectorAll("input.key")) if (other !== input) other.value = input.value;
  });
  return input;
}

const pretty = (text) => {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
};

async function ask(url, isPublic) {
  const headers = key && !isPublic ? {Authorization: `Bearer ${key}`} : {};
  const started = performance.now();
  const answer = await fetch(url, {headers, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer"});
  const text = await answer.text();
  return {answer, text, took: Math.round(performance.now() - started)};
}

function shown(url, {answer, text, took}) {
  const body = pretty(text);
  const cut = body.length > MOST_SHOWN ? `${body.slice(0, MOST_SHOWN)}\n… cut: ${body.length} characters in all` : body;
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  return [
    element("p", {className: "result"}, element("strong", {}, `${answer.status} ${answer.statusText}`), ` in ${took} ms, `,
      element("code", {}, url)),
    element("pre", {className: "code", tabIndex: 0, ariaLabel: "Body of the answer"}, element("code", {}, cut)),
    element("details", {}, element("summary", {}, "Headers of the answer"),
      element("pre", {className: "code", tabIndex: 0, ariaLabel: "Headers of the answer"}, element("code", {}, headers))),
  ];
}

function form(article, output) {
  const isPublic = "public" in article.dataset;
  const inputs = [...article.querySelectorAll("[data-in]")].map(({dataset}) =>
    ({name: dataset.name, place: dataset.in, input: inputOf(dataset)}));
  const labels = inputs.map(({name, input}) => element("label", {}, element("span", {}, name), input));
  if (!isPublic) labels.unshift(element("label", {}, element("span", {}, "API key"), keyInput()));
  const send = element("button", {className: "first", type: "submit"}, "Send");
  const node = element("form", {autocomplete: "off", ariaLabel: `Try: ${article.dataset.title}`}, ...labels, send);
  if (!isPublic) node.append(element("p", {className: "note"}, "The key stays in the memory of this page and is sent to this host only."));
  node.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    const url = target(article.dataset.path, inputs);
    try {
      output.replaceChildren(...shown(url, await ask(url, isPublic)));
    } catch (error) {
      output.replaceChildren(element("p", {className: "result"}, `No answer: ${error.message}`));
    }
    send.disabled = false;
  });
  return node;
}

for (const article of document.querySelectorAll(".endpoint")) {
  const place = article.querySelector(".try");
  if (!place) continue; // a file is no text to show
  const output = element("div", {ariaLive: "polite"});
  const button = element("button", {type: "button", ariaExpanded: "false"}, "Try it");
  let panel = null;
  button.addEventListener("click", () => {
    if (!panel) button.after(panel = element("div", {hidden: true}, form(article, output), output));
    panel.hidden = !panel.hidden;
    button.ariaExpanded = String(!panel.hidden);
    if (!panel.hidden) panel.querySelector("input, select, button").focus();
  });
  place.append(button);
  place.hidden = false;
}

document.querySelector("#origin").textContent = location.origin;

// The contents are closed at first on a small screen. The entry of the section that is in view is marked.
const contents = document.querySelector(".contents");
if (matchMedia("(max-width: 56rem)").matches) contents.querySelector("details").open = false;
const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
const watch = new IntersectionObserver((entries) => {
  for (const {target: {id}} of entries.filter((entry) => entry.isIntersecting)) {
    for (const [name, link] of links) link.ariaCurrent = name === id ? "location" : null;
  }
}, {rootMargin: "-10% 0px -75% 0px"});
for (const id of links.keys()) watch.observe(document.getElementById(id));
