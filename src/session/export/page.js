// The page: reads the embedded session, keeps what is chosen in the address, and fills the path as it comes into view.
const CHUNK = 40;
const $ = (id) => document.getElementById(id);
const session = JSON.parse($("session").textContent);
const entries = session.entries;
const blocksOfLines = [...document.querySelectorAll("script.lines")];
const readBlocks = new Map();
const children = childrenOf(entries);
const byId = new Map(entries.map((entry, index) => [entry.id, index]));
let texts = null;
let state = {};
let drawn = null;

/** The items of a block: entries and what else is in the file. */
function block(number) {
  if (!readBlocks.has(number)) {
    if (readBlocks.size > 24) readBlocks.clear();
    const items = JSON.parse(blocksOfLines[number].textContent);
    readBlocks.set(number, { items, lines: items.map((item) => typeof item === "string" ? item : item.entry).filter((line) => line !== undefined) });
  }
  return readBlocks.get(number);
}

const firsts = blocksOfLines.map((node) => Number(node.dataset.first));

/** An entry, parsed; a text that no parser takes is shown as it is. */
function entryOf(index) {
  let low = 0;
  let high = firsts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (firsts[middle] <= index) low = middle;
    else high = middle - 1;
  }
  const line = block(low).lines[index - firsts[low]];
  try {
    return JSON.parse(wellFormed(line));
  } catch {
    return line;
  }
}

/** Half surrogate pairs, which are JSON but no text, as the character that stands for what is no text. */
function wellFormed(line) {
  if (!/\\u[dD][89a-fA-F]/.test(line)) return line;
  const escapes = /\\(?:(u[dD][89abAB]..\\u[dD][c-fC-F]..)|(u[dD][89a-fA-F]..)|[^])/g;
  return line.replace(escapes, (escape, pair, half) => half ? "\\ufffd" : escape);
}

/** What the address calls an entry: its id where that is the only one, else its number. */
function addressOf(index) {
  const id = entries[index].id;
  return new URLSearchParams({ entry: id !== undefined && byId.get(id) === index ? id : `~${index}` }).toString();
}

function entryAt(address) {
  if (address === null) return -1;
  if (byId.has(address)) return byId.get(address);
  const index = /^~\d+$/.test(address) ? Number(address.slice(1)) : -1;
  return index < entries.length ? index : -1;
}

function pathTo(leaf) {
  const path = [];
  const seen = new Set();
  for (let at = leaf; at !== undefined && at >= 0 && !seen.has(at); at = entries[at].parent) {
    seen.add(at);
    path.push(at);
  }
  return path.reverse();
}

/** The newest end of what hangs under an entry. */
function newestBelow(index) {
  let newest = index;
  const open = [index];
  const seen = new Set(open);
  while (open.length) {
    for (const child of children.get(open.pop()) || []) {
      if (seen.has(child)) continue;
      seen.add(child);
      open.push(child);
      if (child > newest) newest = child;
    }
  }
  return newest;
}

/** Takes over what the address says. */
function follow() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const target = entryAt(asked.get("entry"));
  const filter = FILTERS.some(([name]) => name === asked.get("filter")) ? asked.get("filter") : "default";
  const main = pathTo(session.leaf);
  const leaf = target < 0 || main.includes(target) ? session.leaf : newestBelow(target);
  const path = leaf === session.leaf ? main : pathTo(leaf);
  state = { filter, search: asked.get("search") || "", target, leaf, path, onPath: new Set(path) };
  if ($("search").value !== state.search) $("search").value = state.search;
  for (const button of $("filters").children) button.setAttribute("aria-pressed", String(button.value === filter));
  showTree();
  showPath();
}

function go(changes) {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(changes)) {
    if (value) asked.set(name, value);
    else asked.delete(name);
  }
  history.replaceState(null, "", `#${asked}`);
  follow();
}

function showTree() {
  const wanted = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const isKind = FILTERS.find(([name]) => name === state.filter)[2];
  if (wanted.length && !texts) {
    $("count").textContent = "Reading every entry…";
    gatherTexts(showTree);
    return;
  }
  const isFound = (index) => wanted.every((word) => texts[index].includes(word));
  const rows = treeRows(entries, children, (index) => isKind(entries[index]) && (!wanted.length || isFound(index)));
  $("count").textContent = `${rows.length.toLocaleString("en")} of ${entries.length.toLocaleString("en")} entries`;
  tree.show(rows, state.onPath, state.target < 0 ? state.leaf : state.target);
  $("tree").dataset.rows = rows.map((row) => row.index).slice(0, 2000).join(" ");
}

/** The words of every entry, a slice at a time so that the page stays alive. */
function gatherTexts(then) {
  const found = [];
  const slice = () => {
    const end = performance.now() + 30;
    while (found.length < entries.length) {
      const index = found.length;
      found.push([entries[index].label, entries[index].kind, ...wordsOf(entryOf(index))].join("\n").toLowerCase());
      if (index % 50 === 0 && performance.now() > end) return setTimeout(slice, 0);
    }
    texts = found;
    then();
  };
  slice();
}

/** All texts in a value but picture data, ids and times. */
function wordsOf(value) {
  const out = [];
  const open = [value];
  while (open.length) {
    const one = open.pop();
    if (typeof one === "string") out.push(one);
    else if (Array.isArray(one)) for (const inner of one) open.push(inner);
    else if (isObject(one)) {
      for (const [key, inner] of Object.entries(one)) {
        if (!["data", "id", "parentId", "timestamp", "thinkingSignature", "textSignature", "thoughtSignature"].includes(key) ||
          isObject(inner)) open.push(inner);
      }
    }
  }
  return out;
}

/** Lays the path out in chunks; those near the view are filled, the others wait. */
function showPath() {
  if (!drawn || drawn.leaf !== state.leaf) {
    if (drawn) drawn.watch.disconnect();
    const watch = new IntersectionObserver((seen) => seen.forEach((one) => one.isIntersecting && fill(one.target)), { rootMargin: "1500px 0px" });
    const boxes = [];
    for (let at = 0; at < state.path.length; at += CHUNK) {
      const box = el("div", "chunk");
      box.style.minHeight = `${Math.min(CHUNK, state.path.length - at) * 90}px`;
      box.path = state.path.slice(at, at + CHUNK);
      boxes.push(box);
    }
    drawn = { leaf: state.leaf, boxes, watch, calls: new Map() };
    $("entries").replaceChildren(...boxes, ...(boxes.length ? [] : [el("p", "notice", "Nothing has been said in this session yet.")]));
    boxes.forEach((box) => watch.observe(box));
  }
  const target = state.target < 0 ? state.leaf : state.target;
  const place = state.path.indexOf(target);
  if (place < 0) return;
  const at = Math.floor(place / CHUNK);
  for (const near of [at - 1, at, at + 1]) if (drawn.boxes[near]) fill(drawn.boxes[near]);
  for (const old of document.querySelectorAll(".entry.target")) old.classList.remove("target");
  const node = $(`e${target}`);
  const isStart = state.target < 0 && state.path.length <= CHUNK;
  if (state.target >= 0) node.classList.add("target");
  if (!isStart) node.scrollIntoView({ block: state.target < 0 ? "end" : "start" });
}

function fill(box) {
  drawn.watch.unobserve(box);
  if (!box.path) return;
  const { path } = box;
  box.path = null;
  const before = box.offsetHeight;
  box.append(...path.map((index) => {
    const entry = entryOf(index);
    noteCalls(entry);
    return articleOf(index, entry, entries[index].label, callOf);
  }));
  box.style.minHeight = "";
  // Where the browser does not keep the view in place by itself.
  if (!CSS.supports("overflow-anchor", "auto") && box.getBoundingClientRect().bottom < 0) {
    scrollBy(0, box.offsetHeight - before);
  }
}

function noteCalls(entry) {
  const content = isObject(entry) && isObject(entry.message) && entry.message.content;
  if (!Array.isArray(content)) return;
  for (const one of content) if (isObject(one) && one.type === "toolCall") drawn.calls.set(one.id, one);
}

/** The call of that id; when its message is not drawn yet, looked for just above. */
function callOf(id) {
  if (drawn.calls.has(id)) return drawn.calls.get(id);
  const first = drawn.boxes.find((box) => box.path === null && box.firstChild === null);
  const start = first ? drawn.boxes.indexOf(first) * CHUNK : 0;
  for (let at = start - 1; at >= Math.max(0, start - 12); at -= 1) {
    const { kind } = entries[state.path[at]];
    if (kind === "assistant") {
      noteCalls(entryOf(state.path[at]));
      break;
    }
  }
  return drawn.calls.get(id);
}

function showSummary() {
  const title = session.name || session.file;
  for (const id of ["name", "bar-title"]) $(id).textContent = title;
  const { stats } = session;
  const facts = el("dl", "facts");
  const fact = (name, value, hint) => {
    if (!value) return;
    const text = el("dd", "", value);
    if (hint) text.title = hint;
    facts.append(el("div", "", el("dt", "", name), text));
  };
  fact("Messages", count(stats.totalMessages), "");
  fact("User", count(stats.userMessages), "");
  fact("Assistant", count(stats.assistantMessages), "");
  fact("Tool calls", count(stats.toolCalls), "");
  fact("Tokens", count(stats.tokens.total), "");
  fact("Input", count(stats.tokens.input), "");
  fact("Output", count(stats.tokens.output), "");
  fact("Cache read", count(stats.tokens.cacheRead), "");
  fact("Cache write", count(stats.tokens.cacheWrite), "");
  fact("Cost", cost({ cost: { total: stats.cost } }), session.shares.map((share) => `${share.key}: ${cost({ cost: { total: share.cost } }) || "$0"}`).join("\n"));
  const save = el("button", "", "Download as JSONL");
  save.type = "button";
  save.addEventListener("click", download);
  const button = (text, action) => {
    const node = el("button", "", text);
    node.type = "button";
    node.addEventListener("click", action);
    return node;
  };
  const toggleAll = (open) => () => document.querySelectorAll("#entries details").forEach((node) => {
    if (open) node.fill();
    node.open = open;
  });
  const started = timeOf({ timestamp: session.started });
  $("summary").append(
    el("h2", "", title),
    el("p", "quiet where", el("code", "", session.cwd), started ? " · " : null, started, session.id ? ` · ${session.id}` : null),
    session.parent ? el("p", "quiet", `Forked from ${session.parent}`) : "",
    facts,
    session.diagnostics.length ? fold(`${session.diagnostics.length} remarks on the file`, "remarks", () => [el("ul", "", ...session.diagnostics.map((one) => el("li", "", one)))], true) : "",
    el("p", "actions", save, button("Unfold all", toggleAll(true)), button("Fold all", toggleAll(false))),
  );
}

/** The file's bytes, as they were. */
function sourceParts() {
  const parts = [];
  for (let number = 0; number < blocksOfLines.length; number += 1) {
    for (const item of block(number).items) {
      if (typeof item === "string") parts.push(item, "\n");
      else if (item.file !== undefined) parts.push(item.file);
      else if (item.file64 !== undefined) parts.push(Uint8Array.from(atob(item.file64), (letter) => letter.charCodeAt(0)));
    }
  }
  return parts;
}

function download() {
  const url = URL.createObjectURL(new Blob(sourceParts(), { type: "application/x-ndjson" }));
  const node = el("a");
  node.href = url;
  node.download = session.file;
  node.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

const tree = new TreeView($("tree"), $("rows"), entries, (index) => {
  closeTree();
  go({ entry: new URLSearchParams(addressOf(index)).get("entry") });
});

function closeTree() {
  document.body.classList.remove("with-tree");
  $("open-tree").setAttribute("aria-expanded", "false");
}

$("open-tree").addEventListener("click", () => {
  const isOpen = document.body.classList.toggle("with-tree");
  $("open-tree").setAttribute("aria-expanded", String(isOpen));
  if (isOpen) showTree();
});
for (const [name, title] of FILTERS) {
  const button = el("button", "", title);
  button.type = "button";
  button.value = name;
  button.addEventListener("click", () => go({ filter: name === "default" ? "" : name }));
  $("filters").append(button);
}
let typing = 0;
$("search").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => go({ search: $("search").value }), 120);
});
addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
    document.body.classList.add("with-tree");
    $("search").focus();
    event.preventDefault();
  } else if (event.key === "Escape") {
    if (isTyping && $("search").value) go({ search: "" });
    closeTree();
  } else if (isTyping && event.key === "ArrowDown") {
    $("tree").focus();
    event.preventDefault();
  }
});
addEventListener("hashchange", follow);
addEventListener("beforeprint", () => drawn.boxes.forEach(fill));
showSummary();
follow();
document.documentElement.dataset.ready = "yes";
