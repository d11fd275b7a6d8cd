// Code: a small tokenizer that is right about strings, comments, numbers and words in most languages.
const LONGEST_COLOURED = 100000;
const WORDS = new Set(("abstract and as assert async await begin bool boolean break byte case catch char class const " +
  "continue crate debugger def default defer del delete do done double dyn elif else elsif end enum esac except " +
  "export extends extern false fi final finally float fn for foreach from func function global go goto if impl " +
  "implements import in include instanceof int interface is lambda let local long loop match mod module move mut " +
  "namespace new nil none nonlocal not null or package pass private protected pub public raise readonly ref require " +
  "rescue return select self short signed sizeof static str string struct super switch template then this throw " +
  "throws trait true try type typedef typeof undefined union unless unsafe unsigned until use using var virtual void " +
  "volatile when where while with yield None True False Self select insert update create drop table join group order by")
  .split(" "));
const HASH = "bash sh zsh fish shell console py python rb ruby yaml yml toml perl pl r make makefile dockerfile ini conf".split(" ");
const DASH = "sql lua hs haskell ada".split(" ");
const PLAIN = ["", "text", "txt", "plain", "plaintext", "output", "log"];
const EXTENSIONS = { rs: "rust", md: "text", htm: "html", mjs: "js", cjs: "js", jsonl: "json", h: "c", cc: "cpp" };

/** The language a file name stands for. */
function languageOf(path) {
  const name = String(path || "").split(/[\\/]/).pop() || "";
  const extension = name.includes(".") ? name.split(".").pop().toLowerCase() : name.toLowerCase();
  return EXTENSIONS[extension] || extension;
}

/** Code as nodes. */
function code(text, language) {
  const named = String(language || "").toLowerCase();
  if (named === "diff" || named === "patch") return diff(text);
  const out = document.createDocumentFragment();
  if (PLAIN.includes(named) || text.length > LONGEST_COLOURED) {
    out.append(text);
    return out;
  }
  const comment = HASH.includes(named) ? "#[^\\n]*"
    : DASH.includes(named) ? "--[^\\n]*|/\\*[^]*?(?:\\*/|$)"
    : ["html", "xml", "svg"].includes(named) ? "<!-" + "-[^]*?(?:-->|$)"
    : ["json"].includes(named) ? "(?!)"
    : "//[^\\n]*|/\\*[^]*?(?:\\*/|$)";
  const quote = named === "rust" ? "\"(?:\\\\[^]|[^\"\\\\])*\"?|'(?:\\\\[^'\\n]*|[^'\\\\\\n])'"
    : "\"(?:\\\\[^]|[^\"\\\\\\n])*\"?|'(?:\\\\[^]|[^'\\\\\\n])*'?|`(?:\\\\[^]|[^`\\\\])*`?";
  const token = new RegExp(`(${comment})|(${quote})|(\\b\\d[\\w.]*)|([A-Za-z_$][\\w$]*)`, "g");
  let at = 0;
  for (const found of text.matchAll(token)) {
    const kind = found[1] !== undefined ? "comment" : found[2] !== undefined ? "string"
      : found[3] !== undefined ? "number" : WORDS.has(found[4]) ? "word" : "";
    if (!kind) continue;
    out.append(text.slice(at, found.index), el("span", `c-${kind}`, found[0]));
    at = found.index + found[0].length;
  }
  out.append(text.slice(at));
  return out;
}

/** A diff as nodes, a line each. */
function diff(text) {
  const out = document.createDocumentFragment();
  for (const line of text.split("\n")) {
    const kind = /^(\+\+\+|---|@@|diff |index )/.test(line) ? "head"
      : line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
    out.append(el("span", `d-${kind}`, line + "\n"));
  }
  return out;
}

/** The lines of two texts as a diff: what both begin and end with is shown once. */
function change(before, after) {
  const left = before.split("\n");
  const right = after.split("\n");
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < left.length - start && end < right.length - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const marked = (mark, lines) => lines.map((line) => mark + line);
  return [
    ...marked(" ", left.slice(0, start)),
    ...marked("-", left.slice(start, left.length - end)),
    ...marked("+", right.slice(start, right.length - end)),
    ...marked(" ", left.slice(left.length - end)),
  ].join("\n");
}
