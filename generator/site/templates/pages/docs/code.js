// Code on the pages: colours for its syntax, and a button that copies it.

const JSON_PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/g;
const CODE_PARTS = new RegExp([
  /(^\s*#.*$|\/\/.*$)/, // a comment
  /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/, // a text
  /(?<![-\w])(import|from|export|const|let|await|async|function|return|while|for|of|in|if|else|elif|not|and|or|def|with|as|is|throw|raise|new|try|except|catch|curl|None|True|False|null|true|false|do|done|then|fi)(?![-\w])/,
  /(\b\d+(?:\.\d+)?\b)/,
].map(({source}) => source).join("|"), "gm");

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

/** Colour one `code` element. */
export function colourCode(node) {
  if (node.dataset.language === "json") colour(node, JSON_PARTS, jsonKind);
  else colour(node, CODE_PARTS, codeKind);
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
