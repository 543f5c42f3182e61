// Code on the pages: colours for its syntax, and a button that copies it.

const NUMBER = /(\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/;
const JSON_PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/g;

/** The pattern of a language: a comment, a text, a word of the language, a number. */
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

/** Put the parts of an element's text that a pattern finds into coloured spans. */
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

const NAMES = {python: "py", javascript: "mjs", console: "sh", mts: "mjs"}; // of languages in Markdown, and of a like one

/** Colour one `code` element. */
export function colourCode(node) {
  node.dataset.language = NAMES[node.dataset.language] ?? node.dataset.language;
  if (node.dataset.language === "json") colour(node, JSON_PARTS, jsonKind);
  else if (PARTS[node.dataset.language]) colour(node, PARTS[node.dataset.language], codeKind);
}

/** Add a button that copies a `pre`. */
export function addCopyButton(pre) {
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

/** Colour all code of the page, fill in the address of this host, and add the buttons. */
export function dressCode() {
  for (const place of document.querySelectorAll(".origin")) place.replaceWith(location.origin);
  for (const node of document.querySelectorAll("code[data-language]")) colourCode(node);
  for (const pre of document.querySelectorAll("pre.code")) addCopyButton(pre);
}
