// The tree of all entries: which rows there are under a filter and a search, and those in view drawn.
const ROW = 26;
const SETTINGS = new Set(["label", "custom", "model_change", "thinking_level_change", "session_info", "usage", "context_edit"]);
const FILTERS = [
  ["default", "Default", (row) => !SETTINGS.has(row.kind) && row.kind !== "system"],
  ["no-tools", "No tools", (row) => !SETTINGS.has(row.kind) && row.kind !== "system" && row.kind !== "toolResult" && !row.only_calls],
  ["user", "User", (row) => row.kind === "user"],
  ["labelled", "Labelled", (row) => row.label !== undefined],
  ["all", "All", () => true],
];

/** The children of every entry; those of the roots under -1. */
function childrenOf(entries) {
  const children = new Map();
  entries.forEach((entry, index) => {
    const parent = entry.parent === undefined ? -1 : entry.parent;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(index);
  });
  return children;
}

/** All entries from the roots down, each with its visible depth: a step at every fork. */
function treeRows(entries, children, isShown) {
  const rows = [];
  const visited = new Uint8Array(entries.length);
  const roots = children.get(-1) || [];
  const walk = (start, depth) => {
    const open = [[start, depth]];
    while (open.length) {
      const [index, at] = open.pop();
      if (visited[index]) continue;
      visited[index] = 1;
      if (isShown(index)) rows.push({ index, depth: at });
      const below = children.get(index) || [];
      const step = below.length > 1 ? 1 : 0;
      for (let child = below.length - 1; child >= 0; child -= 1) open.push([below[child], at + step]);
    }
  };
  for (const root of roots) walk(root, roots.length > 1 ? 1 : 0);
  // What hangs in a cycle has no root above it.
  for (let index = 0; index < entries.length; index += 1) walk(index, 0);
  return rows;
}

/** Draws the rows in view, and moves with the keyboard. */
class TreeView {
  constructor(box, rowsBox, entries, choose) {
    Object.assign(this, { box, rowsBox, entries, choose, rows: [], onPath: new Set(), chosen: -1, active: 0 });
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    addEventListener("resize", () => this.draw());
    box.addEventListener("click", (event) => {
      const row = event.target.closest("[data-row]");
      if (row) this.pick(Number(row.dataset.row));
    });
    box.addEventListener("keydown", (event) => this.key(event));
  }

  show(rows, onPath, chosen) {
    Object.assign(this, { rows, onPath, chosen });
    this.rowsBox.style.height = `${rows.length * ROW}px`;
    const at = rows.findIndex((row) => row.index === chosen);
    if (at >= 0) this.reveal(at);
    else this.active = Math.min(this.active, Math.max(0, rows.length - 1));
    this.draw();
  }

  reveal(at) {
    this.active = at;
    const top = at * ROW;
    const height = this.box.clientHeight || 600;
    if (top < this.box.scrollTop || top + ROW > this.box.scrollTop + height) {
      this.box.scrollTop = Math.max(0, top - height / 2);
    }
  }

  draw() {
    const height = this.box.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - 10);
    const last = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + height) / ROW) + 10);
    const drawn = document.createDocumentFragment();
    for (let at = first; at < last; at += 1) drawn.append(this.row(at));
    this.rowsBox.replaceChildren(drawn);
    this.box.setAttribute("aria-activedescendant", this.rows.length ? `row${this.active}` : "");
  }

  row(at) {
    const { index, depth } = this.rows[at];
    const entry = this.entries[index];
    const node = el("div", "row", el("span", "mark"), entry.label !== undefined ? el("span", "label", entry.label) : null,
      el("span", "kind", KIND_WORDS[entry.kind] || entry.kind || "?"), el("span", "text", entry.text));
    node.id = `row${at}`;
    node.setAttribute("role", "option");
    node.setAttribute("aria-selected", String(index === this.chosen));
    node.setAttribute("aria-setsize", String(this.rows.length));
    node.setAttribute("aria-posinset", String(at + 1));
    node.dataset.row = String(at);
    node.dataset.kind = Object.hasOwn(KIND_WORDS, entry.kind) ? entry.kind : "other";
    node.style.top = `${at * ROW}px`;
    node.style.paddingLeft = `${10 + Math.min(depth, 14) * 14}px`;
    node.classList.toggle("on-path", this.onPath.has(index));
    node.classList.toggle("active", at === this.active);
    node.title = entry.text;
    return node;
  }

  pick(at) {
    if (!this.rows[at]) return;
    this.active = at;
    this.choose(this.rows[at].index);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      this.pick(this.active);
    } else if (Object.hasOwn(steps, event.key)) {
      this.reveal(Math.max(0, Math.min(this.rows.length - 1, this.active + steps[event.key])));
      this.draw();
    } else {
      return;
    }
    event.preventDefault();
  }
}

const KIND_WORDS = {
  user: "user", assistant: "assistant", toolResult: "result", bashExecution: "shell", system: "system",
  compaction: "compaction", branch_summary: "summary", custom_message: "extension", custom: "extension",
  model_change: "model", thinking_level_change: "thinking", session_info: "name", label: "label",
  context_edit: "edit", usage: "usage",
};
