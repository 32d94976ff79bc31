// Draws messages. Everything people and bot say goes in as text, never as markup.

const MINUTE = 60_000;
const LIKES = { 76: "赞", 124: "好的" };
const ROLES = { owner: "群主", admin: "管理员" };
const inShanghai = (options) => new Intl.DateTimeFormat("zh-CN", { timeZone: "Asia/Shanghai", ...options });
const clock = inShanghai({ hour: "2-digit", minute: "2-digit" });
const date = inShanghai({ year: "numeric", month: "numeric", day: "numeric" });
const weekday = inShanghai({ weekday: "short" });

/** A moment in words: with the date unless it is told already. */
export function moment(at, before = 0) {
  const day = date.format(at).replace("/", "年").replace("/", "月") + "日";
  const told = before && date.format(before) === date.format(at);
  return told ? clock.format(at) : `${day} ${weekday.format(at)} ${clock.format(at)}`;
}

/** Make an element: attributes by name, `on` for handlers, `class` for classes; children are nodes or text. */
export function h(tag, { on = {}, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  for (const [name, handler] of Object.entries(on)) element.addEventListener(name, handler);
  element.append(...children.filter((child) => child != null && child !== false));
  return element;
}

/** The round picture of someone: the first character of his name on a colour of his own. */
export function avatar(qq, name, bot) {
  if (qq === bot) return h("img", { class: "avatar", src: "/sandbox/static/icon.svg", alt: "" });
  return h("span", { class: `avatar c${qq % 8}`, "aria-hidden": "true" }, [...name][0] ?? "?");
}

export const plain = (message) => message.parts.map((part) => part.text).join("");

/** The report lines of a text (four spaces around the result), the last block of them, headers included. */
export function reportLines(text) {
  const isGame = (line) => line.split("    ").slice(1, -1).some((word) => ["胜", "平", "负"].includes(word.trim()));
  const blocks = [[]];
  let headers = [];
  for (const line of text.split("\n")) {
    if (isGame(line)) {
      blocks.at(-1).push(...headers, line);
      headers = [];
    } else {
      if (blocks.at(-1).length) blocks.push([]);
      headers = /^#\D/.test(line) ? [...headers, line] : [];
    }
  }
  return blocks.findLast((block) => block.length)?.join("\n") ?? "";
}

/** What can be copied from a message of the bot: a corrected report or a template. */
function copyable(message, state) {
  if (message.who !== state.bot) return "";
  const text = plain(message);
  return text.includes("未记录") || !/#\d/.test(text) ? reportLines(text) : "";
}

function copyRow(lines, acts) {
  const copy = h("button", { type: "button" }, "复制");
  copy.addEventListener("click", async (event) => {
    event.stopPropagation();
    await navigator.clipboard.writeText(lines);
    copy.textContent = "已复制 ✓";
    setTimeout(() => (copy.textContent = "复制"), 1500);
  });
  const fill = (event) => {
    event.stopPropagation();
    acts.fill(lines);
  };
  return h("div", { class: "copy" }, copy, h("button", { type: "button", on: { click: fill } }, "填进输入框"));
}

function quoteBox(message, acts) {
  const { id, name, text } = message.quote;
  const jump = (event) => {
    event.stopPropagation();
    acts.jump(id);
  };
  return h("button", { type: "button", class: "quote", on: { click: jump } }, name && h("b", {}, `${name}：`), text);
}

function words(message, state) {
  const parts = message.parts.filter((part) => !part.image && !part.href);
  return parts.map((part) =>
    part.at ? h("span", { class: part.at === state.me ? "at me" : "at" }, part.text) : part.text,
  );
}

/** A picture in a message; a tap enlarges it. */
function picture(part, caption, acts) {
  const { image, width, height } = part;
  const enlarge = (event) => {
    event.stopPropagation();
    acts.enlarge(image, caption);
  };
  const thumbnail = h("img", { src: image, alt: `图片：${caption}`, width, height });
  return h("button", { type: "button", class: "picture", title: "放大", on: { click: enlarge } }, thumbnail);
}

function pictures(message, acts) {
  const caption = message.parts.filter((part) => !part.image).map((part) => part.text).join("").trim().split("\n")[0];
  return message.parts.filter((part) => part.image).map((part) => picture(part, caption, acts));
}

function likes(message) {
  const entries = Object.entries(message.likes);
  return (
    entries.length > 0 &&
    h(
      "div",
      { class: "likes" },
      ...entries.map(([emoji, names]) => h("span", { title: names.join("、") }, `${LIKES[emoji] ?? "表情"} ${names.length}`)),
    )
  );
}

function closeDeeds() {
  document.querySelectorAll(".deeds").forEach((row) => {
    row.closest("li").querySelector(".bubble").setAttribute("aria-expanded", "false");
    row.remove();
  });
}

/** The row under a message that was clicked. */
function deeds(message, state, acts) {
  const inGroup = message.chat.startsWith("g");
  const member = state.members[message.chat]?.[state.me];
  const mayRecall = message.who === state.me || (member && member.role !== "member");
  const button = (label, act) => {
    const click = () => {
      closeDeeds();
      act(message);
    };
    return h("button", { type: "button", on: { click } }, label);
  };
  return h(
    "div",
    { class: "deeds" },
    button("引用", acts.quote),
    inGroup && message.who !== state.me && button("@他", acts.mention),
    inGroup && member && button("点赞", acts.like),
    mayRecall && button("撤回", acts.recall),
  );
}

/** The files in a message, to be saved. */
function files(message) {
  const save = (event) => event.stopPropagation();
  return message.parts
    .filter((part) => part.href)
    .map(({ href, file, size }) =>
      h(
        "a",
        { class: "file", href, download: file, on: { click: save } },
        h("b", {}, file),
        h("span", {}, `${Math.max(1, Math.round(size / 1000))} KB，点一下保存`),
      ),
    );
}

/** One message as a list item. */
export function bubble(message, state, acts) {
  const own = message.who === state.me;
  if (message.note) return h("li", { class: "note", "data-id": message.id }, h("span", {}, message.note));
  if (message.recalled_by) {
    const who = message.recalled_by === message.who ? message.name : acts.nameOf(message.chat, message.recalled_by);
    const whose = message.recalled_by === message.who ? "一条消息" : `${message.name} 的一条消息`;
    return h("li", { class: "system", "data-id": message.id }, `${who} 撤回了${whose}`);
  }
  const isBot = message.who === state.bot;
  const tag = isBot ? "机器人" : ROLES[message.role];
  const lines = copyable(message, state);
  const said = words(message, state);
  const hasWords = said.some((part) => part.textContent ?? part.trim());
  const body = h(
    "div",
    { class: "bubble", role: "button", tabindex: "0", "aria-expanded": "false" },
    message.quote && quoteBox(message, acts),
    hasWords && h("p", {}, ...said),
    ...pictures(message, acts),
    ...files(message),
    lines && copyRow(lines, acts),
  );
  const item = h(
    "li",
    { class: `said${own ? " own" : ""}${isBot ? " by-bot" : ""}`, "data-id": message.id },
    avatar(message.who, message.name, state.bot),
    h(
      "div",
      { class: "words" },
      h("div", { class: "name" }, message.name, tag && h("span", { class: `tag ${isBot ? "bot" : message.role}` }, tag)),
      body,
      likes(message),
    ),
  );
  const toggle = () => {
    if (!getSelection().isCollapsed) return;
    const open = item.querySelector(".deeds");
    closeDeeds();
    if (!open) {
      body.after(deeds(message, state, acts));
      body.setAttribute("aria-expanded", "true");
      item.scrollIntoView({ block: "nearest" });
    }
  };
  body.addEventListener("click", toggle);
  body.addEventListener("keydown", (event) => {
    if (event.target === body && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      toggle();
    }
  });
  return item;
}

/** The line with the time, where some minutes passed since the message before; with the date on another day. */
export function timeLine(message, before) {
  if (message.note || (before && message.time - before.time < 3 * MINUTE)) return null;
  return h("li", { class: "system time" }, moment(message.time, before?.time));
}
