// The sandbox page: keeps what the server tells, draws it, and asks the server for what the visitor does.

import { avatar, bubble, h, plain, timeLine } from "./chat.js";
import { drawGuide, forget } from "./guide.js";
import { drawScenes, enlarge, setUpTools, takeStage } from "./tools.js";

const $ = (id) => document.getElementById(id);
const NOTES = ["报分、确认、查询都在这里", "生效的报分转到这里；记分员在这里办事"];
const NEAR_END = 80;
const FILE_LIMIT = 8_000_000;

const state = {
  bot: 0,
  me: 0,
  chat: "",
  groups: [],
  people: [],
  members: {},
  lines: {},
  messages: new Map(),
  unread: new Map(),
  quote: null,
};
let socket;
let atEnd = true;

// --- who and where -------------------------------------------------------------------------------------------

const person = (qq) => state.people.find((one) => one.qq === qq);
const nameOf = (chat, qq) => state.members[chat]?.[qq]?.name ?? person(qq)?.name ?? String(qq);
const roomOf = (chat) => state.groups.findIndex((group) => group.chat === chat);
const said = (chat) => state.messages.get(chat) ?? [];

function become(qq) {
  const wasPrivate = state.chat.startsWith("u");
  state.me = qq;
  sessionStorage.setItem("sandbox-me", qq);
  open(wasPrivate ? `u${qq}` : state.chat);
}

function open(chat) {
  if (chat !== state.chat) setQuote(null);
  state.chat = chat;
  state.unread.delete(chat);
  draw();
}

function type(qq, chat, text) {
  state.me = qq;
  sessionStorage.setItem("sandbox-me", qq);
  open(chat);
  if (text) fill(text);
}

function fill(text) {
  $("text").value = text;
  grow();
  $("text").focus();
}

function setQuote(message) {
  state.quote = message;
  $("quoting").hidden = !message;
  if (message) $("quoting").firstElementChild.textContent = `引用 ${message.name}：${plain(message)}`;
}

const acts = {
  enlarge,
  nameOf,
  fill,
  type,
  open,
  quote(message) {
    setQuote(message);
    $("text").focus();
  },
  mention(message) {
    const text = $("text");
    const gap = text.value && !/\s$/.test(text.value) ? " " : "";
    fill(`${text.value}${gap}@${nameOf(message.chat, message.who)} `);
  },
  like: (message) => ask({ do: "react", message_id: message.id }),
  recall: (message) => ask({ do: "recall", message_id: message.id }),
  jump(id) {
    const target = $("log").querySelector(`[data-id="${id}"]`);
    target?.scrollIntoView({ block: "center", behavior: "smooth" });
    target?.classList.add("found");
    setTimeout(() => target?.classList.remove("found"), 1200);
  },
};

// --- drawing -------------------------------------------------------------------------------------------------

function draw() {
  drawChats();
  drawPeople();
  drawRoom();
  drawLog();
  drawQuick();
  drawGuide(state, acts);
}

function dot(chat) {
  const count = chat === state.chat ? 0 : (state.unread.get(chat) ?? 0);
  return count > 0 && h("span", { class: "dot", "aria-label": `${count} 条未读` }, count > 99 ? "99+" : String(count));
}

function chatTab(chat, name, picture) {
  const last = said(chat).findLast((message) => !message.recalled_by && !message.note);
  const preview = last ? `${last.name}：${plain(last).replaceAll("\n", " ")}` : "还没有消息";
  const current = chat === state.chat;
  return h(
    "button",
    { type: "button", class: current ? "tab current" : "tab", "aria-current": current, on: { click: () => open(chat) } },
    picture,
    h("span", { class: "tab-name" }, name),
    h("span", { class: "tab-last" }, preview),
    dot(chat),
  );
}

function drawChats() {
  const groups = state.groups.map(({ chat, name }, index) =>
    chatTab(chat, name, h("span", { class: `avatar group g${index}`, "aria-hidden": "true" }, name[0])),
  );
  const mine = chatTab(`u${state.me}`, "私聊机器人", avatar(state.bot, "", state.bot));
  $("chats").replaceChildren(...groups, mine);
}

function drawPeople() {
  const buttons = state.people.map((one) => {
    const current = one.qq === state.me;
    return h(
      "button",
      {
        type: "button",
        class: current ? "person current" : "person",
        "aria-pressed": String(current),
        on: { click: () => become(one.qq) },
      },
      avatar(one.qq, one.name, state.bot),
      h("span", { class: "person-name" }, one.name),
      h("span", { class: `who ${one.part}` }, one.who),
      one.qq !== state.me && dot(`u${one.qq}`),
    );
  });
  const left = $("cast").scrollLeft;
  $("cast").replaceChildren(...buttons);
  $("cast").scrollLeft = left;
  const current = $("cast").querySelector(".current");
  if (current && matchMedia("(max-width: 759px)").matches) {
    $("cast").scrollLeft = current.offsetLeft - $("cast").offsetLeft - ($("cast").clientWidth - current.clientWidth) / 2;
  }
}

function drawRoom() {
  const index = roomOf(state.chat);
  const count = Object.keys(state.members[state.chat] ?? {}).length;
  $("room-name").textContent = index < 0 ? "私聊机器人" : `${state.groups[index].name}（${count}）`;
  $("room-note").textContent = index < 0 ? `只有${person(state.me).name}和机器人看得到` : NOTES[index];
  const inside = index < 0 || Boolean(state.members[state.chat]?.[state.me]);
  const helper = state.people.find((one) => state.members[state.chat]?.[one.qq]);
  $("compose").hidden = $("quick").hidden = !inside;
  $("attach").hidden = index < 0;
  $("outside").hidden = inside;
  $("outside").replaceChildren(
    `${person(state.me).name}不在这个群里，只能旁观。`,
    helper ? h("button", { type: "button", on: { click: () => become(helper.qq) } }, `变成${helper.name}`) : "",
  );
  $("text").placeholder = `以${person(state.me).name}的身份说话`;
}

function emptyNote() {
  const text = roomOf(state.chat) === 0 ? "还没有人说话。跟着「一分钟上手」报第一局吧。" : "还没有消息。";
  return h("li", { class: "system" }, text);
}

function drawLog() {
  const messages = said(state.chat);
  const items = messages.flatMap((message, index) => {
    const time = timeLine(message, messages[index - 1]);
    return time ? [time, bubble(message, state, acts)] : [bubble(message, state, acts)];
  });
  $("log").replaceChildren(...(items.length ? items : [emptyNote()]));
  toEnd();
}

function drawQuick() {
  const me = person(state.me);
  const other = state.people.find((one) => one.part === "player" && one.qq !== state.me)?.name ?? "李四";
  const buttons = (state.lines[me.part] ?? []).map(([label, line]) => {
    const text = line.replaceAll("{me}", me.name).replaceAll("{other}", other);
    return h("button", { type: "button", on: { click: () => fill(text) } }, label);
  });
  $("quick").replaceChildren(...buttons);
}

function toEnd() {
  atEnd = true;
  $("log").scrollTop = $("log").scrollHeight;
  $("newer").hidden = true;
}

/** Show one new or changed message of the open chat without touching the others. */
function showMessage(message, isNew) {
  const log = $("log");
  const stay = atEnd;
  const item = bubble(message, state, acts);
  const old = log.querySelector(`[data-id="${message.id}"]`);
  if (old) old.replaceWith(item);
  else {
    const messages = said(state.chat);
    if (messages.length === 1) log.replaceChildren();
    const time = timeLine(message, messages.at(-2));
    log.append(...(time ? [time, item] : [item]));
  }
  if (stay || (isNew && message.who === state.me)) toEnd();
  else if (isNew) $("newer").hidden = false;
}

// --- the server ----------------------------------------------------------------------------------------------

function takeAll(news) {
  Object.assign(state, { bot: news.bot, groups: news.groups, lines: news.lines });
  Object.assign(state, { people: news.people, members: news.members, messages: new Map() });
  state.unread.clear();
  for (const message of news.messages) state.messages.set(message.chat, [...said(message.chat), message]);
  drawScenes(news.scenes);
  if (news.stage) takeStage(news.stage);
  if (!news.messages.length) forget();
  const before = Number(sessionStorage.getItem("sandbox-me"));
  if (!person(state.me)) state.me = (person(before) ?? state.people[0]).qq;
  open(state.chat || state.groups[0].chat);
}

function takeMessage(message) {
  const messages = said(message.chat);
  const at = messages.findIndex((one) => one.id === message.id);
  const isNew = at < 0;
  state.messages.set(message.chat, isNew ? [...messages, message] : messages.with(at, message));
  if (message.chat === state.chat) showMessage(message, isNew);
  else if (isNew && !message.note) state.unread.set(message.chat, (state.unread.get(message.chat) ?? 0) + 1);
  drawChats();
  drawPeople();
  drawGuide(state, acts);
}

const takes = {
  all: takeAll,
  message: ({ message }) => takeMessage(message),
  note: ({ message }) => takeMessage(message),
  stage: takeStage,
  show: ({ chat }) => chat !== state.chat && open(chat),
  people({ people, members }) {
    Object.assign(state, { people, members });
    draw();
  },
  refused({ text }) {
    $("refused").textContent = text;
    $("refused").hidden = false;
    setTimeout(() => ($("refused").hidden = true), 4000);
  },
};

function ask(deed) {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify({ chat: state.chat, me: state.me, ...deed }));
  return true;
}

function connect() {
  socket = new WebSocket(`ws://${location.host}/sandbox/live`);
  socket.addEventListener("open", () => ($("offline").hidden = true));
  socket.addEventListener("message", (event) => {
    const news = JSON.parse(event.data);
    takes[news.type](news);
  });
  socket.addEventListener("close", () => {
    $("offline").hidden = false;
    setTimeout(connect, 1000);
  });
}

// --- the visitor ---------------------------------------------------------------------------------------------

function grow() {
  const text = $("text");
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight}px`;
}

function send() {
  const text = $("text").value;
  if (!text.trim()) return;
  if (ask({ do: "say", text, message_id: state.quote?.id ?? null })) {
    $("text").value = "";
    grow();
    setQuote(null);
  }
}

$("compose").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
$("text").addEventListener("input", grow);
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
    event.preventDefault();
    send();
  }
});
$("quoting").lastElementChild.addEventListener("click", () => setQuote(null));
$("newer").addEventListener("click", toEnd);
$("log").addEventListener("scroll", () => {
  const log = $("log");
  atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;
  if (atEnd) $("newer").hidden = true;
});
new ResizeObserver(() => atEnd && toEnd()).observe($("log"));
$("attach").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", () => {
  const [file] = $("file").files;
  $("file").value = "";
  const reader = new FileReader();
  reader.addEventListener("load", () => ask({ do: "share", name: file.name, data: reader.result.split(",")[1] ?? "" }));
  if (file?.size > FILE_LIMIT) takes.refused({ text: `文件最多 ${FILE_LIMIT / 1_000_000} MB` });
  else if (file) reader.readAsDataURL(file);
});
setUpTools(ask);

connect();
