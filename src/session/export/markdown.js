// Markdown as DOM nodes. Nothing is ever parsed as HTML: what is not Markdown stays text.
const LONGEST_MARKDOWN = 300000;
const LONGEST_INLINE = 20000;
const DEEPEST = 10;
const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])( +|$)/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;

/** A text with Markdown in it. */
function markdown(text) {
  if (text.length > LONGEST_MARKDOWN) return longText(text);
  return el("div", "markdown", blocks(text.replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), 0));
}

function blocks(lines, depth) {
  const out = document.createDocumentFragment();
  if (depth > DEEPEST) {
    out.append(el("p", "", lines.join("\n")));
    return out;
  }
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    let found;
    if (!line.trim()) {
      at += 1;
    } else if ((found = FENCE.exec(line)) && !(found[2][0] === "`" && found[3].includes("`"))) {
      const [, indent, fence, info] = found;
      const body = [];
      for (at += 1; at < lines.length; at += 1) {
        const end = FENCE.exec(lines[at]);
        if (end && end[2][0] === fence[0] && end[2].length >= fence.length && !end[3].trim()) break;
        body.push(lines[at].startsWith(indent) ? lines[at].slice(indent.length) : lines[at]);
      }
      at += 1;
      out.append(codeBlock(body.join("\n"), info.trim().split(/[\s,{]/)[0]));
    } else if ((found = /^ {0,3}(#{1,6})(?: +|$)/.exec(line))) {
      out.append(el(`h${found[1].length}`, "", inline(line.slice(found[0].length).trim().replace(/ #{1,20}$/, ""), 0)));
      at += 1;
    } else if (RULE.test(line)) {
      out.append(el("hr"));
      at += 1;
    } else if (/^ {0,3}>/.test(line)) {
      const inner = [];
      for (; at < lines.length && /^ {0,3}>/.test(lines[at]); at += 1) inner.push(lines[at].replace(/^ {0,3}> ?/, ""));
      out.append(el("blockquote", "", blocks(inner, depth + 1)));
    } else if (ITEM.test(line)) {
      at = list(lines, at, depth, out);
    } else if (isTable(lines, at)) {
      at = table(lines, at, out);
    } else if (/^ {4}/.test(line)) {
      const body = [];
      for (; at < lines.length && (/^ {4}/.test(lines[at]) || !lines[at].trim()); at += 1) body.push(lines[at].slice(4));
      out.append(codeBlock(body.join("\n").trimEnd(), ""));
    } else {
      const start = at;
      for (at += 1; at < lines.length && lines[at].trim() && !interrupts(lines, at); at += 1);
      out.append(el("p", "", inline(lines.slice(start, at).map((one) => one.trim()).join("\n"), 0)));
    }
  }
  return out;
}

function interrupts(lines, at) {
  const line = lines[at];
  return FENCE.test(line) || /^ {0,3}(#{1,6} |>)/.test(line) || RULE.test(line) || /^ *([-*+]|1[.)]) /.test(line) ||
    isTable(lines, at);
}

function list(lines, start, depth, out) {
  const [, indent, bullet] = ITEM.exec(lines[start]);
  const isOrdered = /\d/.test(bullet);
  const node = el(isOrdered ? "ol" : "ul");
  if (isOrdered && parseInt(bullet, 10) !== 1) node.start = parseInt(bullet, 10);
  let at = start;
  while (at < lines.length) {
    const found = ITEM.exec(lines[at]);
    if (!found || found[1].length !== indent.length || /\d/.test(found[2]) !== isOrdered || RULE.test(lines[at])) break;
    const width = found[3].length > 4 ? found[1].length + found[2].length + 1 : found[0].length;
    const inner = [lines[at].slice(found[0].length)];
    for (at += 1; at < lines.length; at += 1) {
      const line = lines[at];
      const depthOf = line.length - line.trimStart().length;
      if (!line.trim()) {
        // A blank belongs to the item only when something indented follows it.
        const next = lines.slice(at, at + 5).find((one) => one.trim());
        if (next === undefined || next.length - next.trimStart().length <= indent.length) break;
        inner.push("");
      } else if (depthOf > indent.length) {
        inner.push(line.slice(Math.min(depthOf, width)));
      } else if (ITEM.test(line) || interrupts(lines, at) || !inner[inner.length - 1].trim()) {
        break;
      } else {
        inner.push(line);
      }
    }
    const item = el("li");
    const task = /^\[([ xX])\] /.exec(inner[0]);
    if (task) {
      inner[0] = inner[0].slice(4);
      item.classList.add("task");
      item.append(el("span", "box", task[1] === " " ? "☐ " : "☑ "));
    }
    const content = blocks(inner, depth + 1);
    // A tight item is its text, not a paragraph.
    for (const child of [...content.childNodes]) {
      if (child.nodeName === "P" && child === content.firstChild) item.append(...child.childNodes);
      else item.append(child);
    }
    node.append(item);
    while (at < lines.length && !lines[at].trim() && ITEM.test(lines[at + 1] || "")) at += 1;
  }
  out.append(node);
  return at;
}

function isTable(lines, at) {
  const rule = lines[at + 1];
  return lines[at].includes("|") && rule !== undefined && rule.includes("-") && rule.includes("|") &&
    rule.length < 2000 && /^[ |:-]+$/.test(rule);
}

function table(lines, start, out) {
  const cells = (line) => {
    const parts = [""];
    let isCode = false;
    for (let at = 0; at < line.length; at += 1) {
      if (line[at] === "\\" && line[at + 1] === "|") parts[parts.length - 1] += line[++at];
      else if (line[at] === "|" && !isCode) parts.push("");
      else {
        if (line[at] === "`") isCode = !isCode;
        parts[parts.length - 1] += line[at];
      }
    }
    if (!parts[0].trim()) parts.shift();
    if (parts.length && !parts[parts.length - 1].trim()) parts.pop();
    return parts.map((part) => part.trim());
  };
  const sides = cells(lines[start + 1]).map((mark) =>
    mark.endsWith(":") ? (mark.startsWith(":") ? "center" : "right") : "left");
  const row = (line, tag) => el("tr", "", ...cells(line).map((cell, column) =>
    el(tag, `to-${sides[column] || "left"}`, inline(cell, 0))));
  const body = el("tbody");
  let at = start + 2;
  for (; at < lines.length && lines[at].includes("|"); at += 1) body.append(row(lines[at], "td"));
  out.append(el("div", "table", el("table", "", el("thead", "", row(lines[start], "th")), body)));
  return at;
}

const INLINE = /\\([!-/:-@[-`{-~])|(`+)|(!?\[)|(\*\*|__|~~)|([*_])|<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>|(https?:\/\/[^\s<>"'`]{1,2000})/g;

function inline(text, depth) {
  const out = document.createDocumentFragment();
  if (depth > DEEPEST || text.length > LONGEST_INLINE) {
    out.append(text);
    return out;
  }
  const scan = new RegExp(INLINE);
  let at = 0;
  let found;
  const add = (end, node) => {
    out.append(text.slice(at, found.index), node);
    at = end;
    scan.lastIndex = end;
  };
  while ((found = scan.exec(text))) {
    const start = found.index;
    const behind = start + found[0].length;
    if (found[1]) {
      add(behind, found[1]);
    } else if (found[2]) {
      let end = text.indexOf(found[2], behind);
      while (end >= 0 && text[end + found[2].length] === "`") {
        let run = end;
        while (text[run] === "`") run += 1;
        end = text.indexOf(found[2], run);
      }
      if (end >= 0) {
        const body = text.slice(behind, end).replace(/\n/g, " ");
        add(end + found[2].length, el("code", "", /^ .*[^ ].* $/.test(body) ? body.slice(1, -1) : body));
      }
    } else if (found[3]) {
      const parts = linkParts(text, behind);
      if (parts) {
        const shown = found[3] === "![" ? document.createTextNode(parts.text || "picture") : inline(parts.text, depth + 1);
        add(parts.end, link(parts.url, shown));
      }
    } else if (found[4] || found[5]) {
      const mark = found[0];
      const isWord = (letter) => letter !== undefined && /[\p{L}\p{N}_]/u.test(letter);
      let end = /\S/.test(text[behind] || " ") && !(mark[0] === "_" && isWord(text[start - 1])) ? behind : -1;
      do {
        end = end < 0 ? -1 : text.indexOf(mark, end + 1);
      } while (end >= 0 && (/\s/.test(text[end - 1]) || (mark.length === 1 && (text[end + 1] === mark || text[end - 1] === mark)) ||
        (mark[0] === "_" && isWord(text[end + mark.length]))));
      if (end >= 0) {
        const tag = mark === "~~" ? "del" : mark.length === 2 ? "strong" : "em";
        add(end + mark.length, el(tag, "", inline(text.slice(behind, end), depth + 1)));
      }
    } else if (found[6]) {
      add(behind, link(found[6], document.createTextNode(found[6])));
    } else {
      let url = found[7].replace(/[.,;:!?*_~]+$/, "");
      if (url.endsWith(")") && !url.includes("(")) url = url.slice(0, -1);
      add(start + url.length, link(url, document.createTextNode(url)));
    }
  }
  out.append(text.slice(at));
  return out;
}

function linkParts(text, start) {
  let open = 1;
  let end = start;
  for (; end < text.length && open > 0; end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === "[") open += 1;
    else if (text[end] === "]") open -= 1;
  }
  if (open || text[end] !== "(") return null;
  const found = /^\(\s*(<[^<>\n]*>|(?:[^\s()]|\([^\s()]*\))*)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(text.slice(end, end + 4000));
  if (!found) return null;
  return { text: text.slice(start, end - 1), url: found[1].replace(/^<|>$/g, ""), end: end + found[0].length };
}

/** A link where that is safe; else the text, with the address to read. */
function link(url, shown) {
  const address = safeAddress(url);
  if (!address) return el("span", "no-link", shown, url ? ` (${url})` : "");
  const node = el("a", "", shown);
  node.href = address;
  node.rel = "noopener noreferrer";
  node.target = "_blank";
  node.title = address;
  return node;
}

function safeAddress(url) {
  try {
    const parsed = new URL(url);
    return ["http:", "https:", "mailto:"].includes(parsed.protocol) ? parsed.href : null;
  } catch {
    return null;
  }
}

function codeBlock(text, language) {
  const block = el("pre", "code", el("code", "", code(text, language)));
  if (language) block.dataset.language = language.slice(0, 20);
  block.tabIndex = 0;
  return block;
}
