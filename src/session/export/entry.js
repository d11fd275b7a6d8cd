// One entry of the session as an article.
const PREVIEW_LINES = 14;
const LONGEST_PREVIEW = 4000;
const PICTURES = { "image/png": "iVBORw0KGgo", "image/jpeg": "/9j/", "image/gif": "R0lGOD", "image/webp": "UklGR" };
const ROLE_NAMES = {
  user: "User", assistant: "Assistant", toolResult: "Result", bashExecution: "Shell", system: "System",
  custom: "Extension", custom_message: "Extension", compaction: "Compaction", branch_summary: "Branch summary",
  branchSummary: "Branch summary", compactionSummary: "Compaction",
};

/** A node: tag, classes, children (text or nodes). */
function el(tag, classes, ...children) {
  const node = document.createElement(tag);
  if (classes) node.className = classes;
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const words = (value) => typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);

/** The article of an entry; `call` finds the tool call that a result answers. */
function article(index, entry, label, call) {
  const message = isObject(entry) && entry.type === "message" && isObject(entry.message) ? entry.message : null;
  const kind = message ? words(message.role) : isObject(entry) ? words(entry.type) : "";
  const shown = body(kind, message || entry, message !== null, call);
  const tone = shown.tone || (ROLE_NAMES[kind] ? kind : "other");
  const node = el("article", `entry ${shown.isNote ? "note" : "card"} is-${tone}`);
  node.id = `e${index}`;
  node.dataset.entry = isObject(entry) ? words(entry.id) : "";
  const title = shown.title || ROLE_NAMES[kind] || kind || "Unknown";
  const head = el("header", "", el("span", "who", title));
  if (shown.about) head.append(el("span", "about", shown.about));
  if (label) head.append(el("span", "label", label));
  const time = timeOf(entry, message);
  if (time) head.append(time);
  const anchor = el("a", "anchor", "#");
  anchor.href = `#${addressOf(index)}`;
  anchor.setAttribute("aria-label", "Link to this entry");
  head.append(anchor);
  node.append(head, ...shown.parts.filter(Boolean));
  return node;
}

/** The same for whatever a file may hold: what cannot be shown as it should be is shown as it is. */
function articleOf(index, entry, label, call) {
  try {
    return article(index, entry, label, call);
  } catch (problem) {
    const node = el("article", "entry note is-other", el("p", "quiet", `This entry cannot be shown: ${problem.message}`));
    node.id = `e${index}`;
    return node;
  }
}

function timeOf(entry, message) {
  const stamp = isObject(entry) && typeof entry.timestamp === "string" ? entry.timestamp : message && message.timestamp;
  const date = new Date(stamp || NaN);
  if (isNaN(date)) return null;
  const node = el("time", "", date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" }));
  node.dateTime = date.toISOString();
  return node;
}

function body(kind, value, isMessage, call) {
  switch (isMessage ? `message ${kind}` : kind) {
    case "message user":
      return { parts: content(value.content, markdown) };
    case "message assistant":
      return assistant(value);
    case "message toolResult":
      return toolResult(value, call(value.toolCallId));
    case "message bashExecution":
      return shell(value);
    case "message system":
      return system(value);
    case "message custom":
    case "custom_message":
      return { about: words(value.customType), parts: [...content(value.content, markdown), ...raw(value.details, "Details")] };
    case "compaction":
      return {
        about: value.tokensBefore > 0 ? `${count(value.tokensBefore)} tokens before` : "",
        parts: [markdown(words(value.summary)), ...raw(value.details, "Files")],
      };
    case "branch_summary":
      return { parts: [markdown(words(value.summary)), ...raw(value.details, "Files")] };
    case "model_change":
      return note("Model", `${words(value.provider)}/${words(value.modelId)}`);
    case "thinking_level_change":
      return note("Thinking", words(value.thinkingLevel));
    case "session_info":
      return note("Name", words(value.name) || "cleared");
    case "label":
      return note("Label", value.label ? `${words(value.label)} → ${words(value.targetId)}` : `cleared → ${words(value.targetId)}`);
    case "context_edit":
      return {
        ...note("Context edit", `${words(value.targetId)} ${value.replacement === null ? "hidden" : "replaced"}`),
        parts: isObject(value.replacement) ? content(value.replacement.content, longText) : [],
      };
    case "usage":
      return note("Usage", [words(value.kind), words(value.model), cost(value.usage), words(value.note)].filter(Boolean).join(" · "));
    case "custom":
      return { ...note("Extension data", words(value.customType)), parts: raw(value.data, "Data") };
    default:
      return { title: kind || "Unknown", isNote: true, tone: "other", parts: raw(value, "Raw JSON") };
  }
}

function note(title, about) {
  return { title, about, isNote: true, tone: "other", parts: [] };
}

/** Text and picture blocks; other blocks as they are. */
function content(value, text) {
  if (typeof value === "string") return value ? [text(value)] : [];
  if (!Array.isArray(value)) return raw(value, "Content");
  return value.flatMap((block) => {
    if (isObject(block) && block.type === "text") return words(block.text) ? [text(words(block.text))] : [];
    if (isObject(block) && block.type === "image") return [picture(block)];
    return raw(block, `Block ${isObject(block) ? words(block.type) : ""}`);
  });
}

function assistant(message) {
  const blocks = Array.isArray(message.content) ? message.content : [message.content];
  const parts = blocks.flatMap((block) => {
    if (isObject(block) && block.type === "thinking") return [thinking(block)];
    if (isObject(block) && block.type === "toolCall") return [toolCall(block)];
    return content(isObject(block) ? [block] : block, markdown);
  });
  if (message.errorMessage) parts.push(el("p", "failure", words(message.errorMessage)));
  else if (message.stopReason === "aborted") parts.push(el("p", "failure", "Aborted"));
  else if (message.stopReason === "length") parts.push(el("p", "failure", "Stopped at the token limit"));
  const spent = [count(message.usage && message.usage.output) && `${count(message.usage.output)} out`, cost(message.usage)];
  return { about: [words(message.model), ...spent].filter(Boolean).join(" · "), parts };
}

function thinking(block) {
  const text = words(block.thinking) || (block.redacted ? "(redacted)" : "");
  return text ? fold("Thinking", "thinking", () => [markdown(text)], true) : null;
}

/** The words that say what a call is about. */
function callSummary(name, args) {
  if (!isObject(args)) return "";
  const first = ["command", "path", "file_path", "pattern", "query", "url"].map((key) => args[key]).find((one) => typeof one === "string");
  const text = first === undefined ? JSON.stringify(args) : first;
  const line = text.split("\n")[0];
  return line.length > 160 || line !== text ? `${line.slice(0, 160)} …` : line;
}

function toolCall(block) {
  const args = isObject(block.arguments) ? block.arguments : {};
  const name = words(block.name);
  const parts = () => {
    const path = args.path || args.file_path;
    if (name === "bash" && typeof args.command === "string") return [longText(args.command, "bash")];
    if (typeof args.content === "string" && path) return [longText(args.content, languageOf(path))];
    const edits = Array.isArray(args.edits) ? args.edits : [args];
    if (edits.every((edit) => isObject(edit) && typeof edit.oldText === "string" && typeof edit.newText === "string")) {
      return edits.map((edit) => longText(change(edit.oldText, edit.newText), "diff"));
    }
    return [longText(JSON.stringify(block.arguments, null, 2) || "", "json")];
  };
  // Folded when the summary says all there is.
  const isSaid = Object.keys(args).length < 2 && callSummary(name, args) === Object.values(args)[0];
  const node = fold(name, "call", parts, isSaid);
  node.firstChild.append(" ", el("code", "", callSummary(name, args)));
  return node;
}

function toolResult(message, call) {
  const name = words(message.toolName);
  const details = isObject(message.details) ? message.details : {};
  const args = call && isObject(call.arguments) ? call.arguments : {};
  const parts = [];
  const change = typeof details.diff === "string" ? details.diff : typeof details.patch === "string" ? details.patch : "";
  if (change) parts.push(longText(change, "diff"));
  const language = name === "read" ? languageOf(args.path || args.file_path) : "";
  const output = content(message.content, (text) => longText(text, language));
  if (change && !message.isError) parts.push(fold("What the model read", "", () => output, true));
  else parts.push(...output);
  const known = Object.keys(details).every((key) => ["diff", "patch", "firstChangedLine"].includes(key));
  if (!known) parts.push(...raw(details, "Details"));
  return {
    title: name || "Result",
    about: [callSummary(name, args), message.isError ? "failed" : ""].filter(Boolean).join(" · "),
    tone: message.isError ? "failure" : "toolResult",
    parts,
  };
}

function shell(message) {
  const parts = [longText(`$ ${words(message.command)}`, "bash")];
  if (message.output) parts.push(longText(words(message.output)));
  if (message.fullOutputPath) parts.push(el("p", "quiet", `Full output: ${words(message.fullOutputPath)}`));
  const ends = [];
  if (message.cancelled) ends.push("cancelled");
  if (typeof message.exitCode === "number") ends.push(`exit ${message.exitCode}`);
  if (message.truncated) ends.push("truncated");
  if (message.excludeFromContext) ends.push("not shown to the model");
  return { about: ends.join(" · "), parts, tone: message.exitCode ? "failure" : "bashExecution" };
}

function system(message) {
  const parts = [];
  if (isObject(message.sections)) {
    for (const [name, text] of Object.entries(message.sections)) {
      parts.push(text === null ? el("p", "quiet", `${name}: taken away`) : fold(name, "", () => [markdown(words(text))], true));
    }
  }
  if (message.content) parts.push(fold("System prompt", "", () => content(message.content, markdown), true));
  for (const [key, title] of [["toolsAdded", "Tools added"], ["toolsRemoved", "Tools removed"]]) {
    if (!Array.isArray(message[key]) || !message[key].length) continue;
    const names = message[key].map((tool) => isObject(tool) ? words(tool.name) : words(tool)).join(", ");
    const node = fold(title, "", () => [codeBlock(JSON.stringify(message[key], null, 2), "json")], true);
    node.firstChild.append(" ", el("span", "quiet", names));
    parts.push(node);
  }
  return { parts };
}

/** Something folded that is only made when it is opened. */
function fold(title, classes, parts, startsClosed) {
  const node = el("details", classes, el("summary", "", el("span", "title", title)));
  const fill = () => {
    if (node.dataset.filled) return;
    node.dataset.filled = "yes";
    node.append(...parts());
  };
  node.addEventListener("toggle", () => node.open && fill());
  node.fill = fill;
  if (!startsClosed) {
    fill();
    node.open = true;
  }
  return node;
}

function raw(value, title) {
  if (value === undefined || value === null) return [];
  return [fold(title, "raw", () => [longText(JSON.stringify(value, null, 2), "json")], true)];
}

/** Text in a box: its beginning, and a button for the rest. */
function longText(text, language) {
  let cut = -1;
  for (let lines = 0; lines < PREVIEW_LINES; lines += 1) {
    cut = text.indexOf("\n", cut + 1);
    if (cut < 0) break;
  }
  if (cut < 0 || cut > LONGEST_PREVIEW) cut = text.length > LONGEST_PREVIEW ? LONGEST_PREVIEW : -1;
  const box = el("div", "long");
  const block = codeBlock(cut < 0 ? text : text.slice(0, cut), language);
  box.append(block);
  if (cut < 0 || !text.slice(cut, cut + 400).trim()) return box;
  let lines = 0;
  for (let at = cut; at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  const more = el("button", "more", lines > 1 ? `Show ${count(lines - 1)} more lines` : `Show ${count(text.length - cut)} more characters`);
  more.type = "button";
  more.setAttribute("aria-expanded", "false");
  let isOpen = false;
  more.addEventListener("click", () => {
    isOpen = !isOpen;
    block.firstChild.replaceChildren(code(isOpen ? text : text.slice(0, cut), language));
    more.setAttribute("aria-expanded", String(isOpen));
    more.dataset.title = more.dataset.title || more.textContent;
    more.textContent = isOpen ? "Show less" : more.dataset.title;
  });
  box.append(more);
  return box;
}

/** A picture, when its data are what its type says. */
function picture(block) {
  const kind = words(block.mimeType).toLowerCase();
  const data = words(block.data);
  const beginning = Object.hasOwn(PICTURES, kind) ? PICTURES[kind] : null;
  if (beginning === null || !data.startsWith(beginning) || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
    return el("p", "quiet", `[picture that cannot be shown: ${kind || "no type"}]`);
  }
  const node = el("img", "picture");
  node.alt = `Picture, ${kind}`;
  node.loading = "lazy";
  node.src = `data:${kind};base64,${data}`;
  return node;
}

function count(number) {
  return typeof number === "number" && number > 0 ? Math.round(number).toLocaleString("en") : "";
}

function cost(usage) {
  const total = usage && usage.cost && usage.cost.total;
  return typeof total === "number" && total > 0 ? `$${total.toFixed(total < 0.01 ? 4 : 2)}` : "";
}
