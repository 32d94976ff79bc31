// 一分钟上手: six steps that tick themselves off by what was really said.

import { h, plain } from "./chat.js";

const YES = /^(确认|对|是|ok)/i;
const SEEN = "sandbox-seen";

function flags() {
  return new Set(JSON.parse(sessionStorage.getItem(SEEN) ?? "[]"));
}

function remember(flag) {
  sessionStorage.setItem(SEEN, JSON.stringify([...flags().add(flag)]));
}

/** Forget what was ticked: a new sandbox. */
export function forget() {
  sessionStorage.removeItem(SEEN);
}

/** The report the guide follows: the first one that was confirmed, else the last that waits. */
function followed(state, official) {
  const said = state.messages.get(official) ?? [];
  const byBot = said.filter((message) => message.who === state.bot && !message.recalled_by);
  const prompts = byBot
    .filter((message) => plain(message).includes("确认") && message.parts.some((part) => part.at))
    .map((message) => ({ message, number: plain(message).match(/#\d+/)?.[0] }))
    .filter((prompt) => prompt.number);
  const names = (text, number) => text.includes(number) && !new RegExp(`${number}\\d`).test(text);
  for (const prompt of prompts) {
    prompt.ack = byBot.find((message) => plain(message).includes("收到") && names(plain(message), prompt.number));
    prompt.waiting = prompt.message.parts.filter((part) => part.at).map((part) => part.at);
  }
  const prompt = prompts.find((found) => found.ack) ?? prompts.at(-1);
  if (!prompt) return null;
  prompt.forwarded = (chat) => (state.messages.get(chat) ?? []).some((m) => names(plain(m), prompt.number));
  prompt.answered = said.some(
    (message) =>
      message.seq > prompt.message.seq && prompt.waiting.includes(message.who) && YES.test(plain(message).trim()),
  );
  prompt.liked = Object.keys(prompt.message.likes).length > 0;
  return prompt;
}

function boardShown(state) {
  for (const said of state.messages.values()) {
    const asked = said.findIndex((message) => /^[/／]排(行榜|名)/.test(plain(message).trim()));
    if (asked >= 0 && said.slice(asked).some((message) => message.who === state.bot)) return true;
  }
  return false;
}

/** The steps with what is done, in order; `act` is the button of a step. */
function steps(state, acts) {
  const [official, scoring] = state.groups.map((group) => group.chat);
  const [first, second] = state.people.filter((person) => person.part === "player");
  const prompt = followed(state, official);
  const opponent = state.people.find((person) => prompt?.waiting.includes(person.qq)) ?? second;
  if (prompt?.waiting.includes(state.me)) remember("switch");
  if (prompt?.ack && state.chat === official) remember("read");
  if (prompt?.forwarded(scoring) && state.chat === scoring) remember("forward");
  const seen = flags();
  const lines = `${first.name}    胜    ${second.name}`;
  return [
    {
      done: Boolean(prompt),
      title: "报一局",
      text: `你是${first.name}，在官方群里发一行：`,
      line: lines,
      label: "替我填好",
      act: () => acts.type(first.qq, official, lines),
    },
    {
      done: seen.has("switch") || Boolean(prompt?.ack),
      title: "换成对手",
      text: `要对手认可才算。换成${opponent.name}。`,
      label: `变成${opponent.name}`,
      act: () => acts.type(opponent.qq, official, ""),
    },
    {
      done: Boolean(prompt?.ack || prompt?.answered || prompt?.liked),
      title: "确认",
      text: "发「确认」，或者点机器人的消息、引用它再发。",
      label: "替我填好",
      act: () => acts.type(opponent.qq, official, "确认"),
    },
    {
      done: seen.has("read"),
      title: "看「收到」",
      text: "官方群里出现「收到」，带着两人的新等级分。",
      label: "看官方群",
      act: () => acts.open(official),
    },
    {
      done: seen.has("forward"),
      title: "看记分群",
      text: "标准格式的报分已经转到记分群，记分员不用再抄。",
      label: "看记分群",
      act: () => acts.open(scoring),
    },
    {
      done: boardShown(state),
      title: "看榜",
      text: "在官方群里发：",
      line: "/排行榜",
      label: "替我填好",
      act: () => acts.type(opponent.qq, official, "/排行榜"),
    },
  ];
}

function extras(state, acts) {
  const official = state.groups[0].chat;
  const [first] = state.people.filter((person) => person.part === "player");
  const newcomer = state.people.findLast((person) => person.part === "newcomer");
  const idea = (text, qq, line) =>
    h("li", {}, h("button", { type: "button", on: { click: () => acts.type(qq, official, line) } }, text));
  return [
    h("p", {}, "都会了。再试试："),
    h(
      "ul",
      {},
      idea("把「胜」写成「赢」，看机器人怎么说", first.qq, `${first.name}    赢    李四`),
      idea("防刷分：张三已净胜平安 3 局，再报两局", first.qq, "张三    胜    平安\n张三    胜    平安"),
      idea("新人报名，再换成记分员通过", newcomer.qq, `/报名 ${newcomer.name}`),
      idea("查自己的等级分", first.qq, "/等级分"),
    ),
  ];
}

/** Draw the panel. */
export function drawGuide(state, acts) {
  const list = steps(state, acts);
  const now = list.findIndex((step) => !step.done);
  document.getElementById("guide-count").textContent = `${list.filter((step) => step.done).length}/${list.length}`;
  document.getElementById("guide-now").textContent = now < 0 ? "都会了" : "";
  const items = list.map((step, index) =>
    h(
      "li",
      { class: step.done ? "done" : index === now ? "now" : "later", "data-n": index + 1 },
      h("b", {}, step.title),
      h("p", {}, step.text, step.line && h("code", {}, step.line)),
      index === now && h("button", { type: "button", on: { click: step.act } }, step.label),
    ),
  );
  document.getElementById("steps").replaceChildren(...items);
  const more = document.getElementById("more");
  more.hidden = now >= 0;
  more.replaceChildren(...(now < 0 ? extras(state, acts) : []));
}
