// 演示 and 时间: the clock, the scenes, beginning anew, and what is under way.

import { h, moment } from "./chat.js";

const $ = (id) => document.getElementById(id);
const JUMPS = [
  ["hour", "+1 小时"],
  ["day", "+1 天"],
  ["week", "+1 周"],
  ["leave", "到 12-28 23:50"],
  ["new-year", "到元旦"],
  ["february", "到 2月1日"],
];
const PACE = 1.2;
const NARROW = "(max-width: 1079px)";
const TICK = 1000;
const DAY = 86_400_000;

let ask = () => {};
let ahead = 0; // how much later it is in the sandbox, in ms
let busy = null;

/** Read what the server tells of the clock and of what is under way. */
export function takeStage(stage) {
  ahead = stage.now - Date.now();
  busy = stage.busy;
  showNow();
  const bar = $("stage");
  const said = stage.said;
  bar.hidden = !busy && !said;
  bar.dataset.state = busy ? "busy" : "over";
  bar.dataset.run = stage.run;
  document.body.classList.toggle("busy", Boolean(busy));
  bar.querySelector("b").textContent = busy ? busy.title : "";
  bar.querySelector("span").textContent = busy ? busy.line : said;
  const button = bar.querySelector("button");
  button.textContent = busy ? "停" : "知道了";
  button.hidden = busy?.what === "reset";
  for (const one of document.querySelectorAll("#scenes button, #time button, #time input")) one.disabled = Boolean(busy);
}

function showNow() {
  const now = Date.now() + ahead;
  const words = moment(now);
  for (const one of document.querySelectorAll("time.now")) {
    one.dateTime = new Date(now).toISOString();
    one.textContent = one.classList.contains("long") ? words : words.replace(/^\d+年/, "").replace(/ 周./, "");
  }
  const days = Math.round(ahead / DAY);
  $("ahead").textContent = ahead < 60_000 ? "" : days ? `比现实快${days}天` : "比现实快一些";
  $("jump-at").min = shanghai(now);
  if ($("jump-at").value < $("jump-at").min) $("jump-at").value = shanghai(now + DAY);
}

/** A moment as the date field writes it. */
function shanghai(at) {
  return new Date(at + 8 * 3_600_000).toISOString().slice(0, 16);
}

/** Ask before everything is thrown away. */
async function sure(text) {
  const dialog = $("sure");
  $("sure-text").textContent = text;
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  return dialog.returnValue === "yes";
}

function openPanel(name) {
  for (const button of document.querySelectorAll("#tools button")) {
    button.setAttribute("aria-expanded", String(button.dataset.panel === name));
  }
  $("side").dataset.open = name;
}

function begin(deed) {
  if (matchMedia(NARROW).matches) openPanel("");
  ask(deed);
}

async function play(scene) {
  if (scene.big && !(await sure("要换一本新账来放300人的联赛，现在沙盒里的对局和聊天都不要了。"))) return;
  const pace = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : PACE;
  begin({ do: "play", what: scene.name, pace });
}

async function reset() {
  if (await sure("沙盒里的对局、聊天和时间都从头来。只动沙盒自己的 data/sandbox.db。")) begin({ do: "reset" });
}

/** Draw the buttons of the scenes. */
export function drawScenes(scenes) {
  const button = (title, about, click, kind = "") =>
    h("button", { type: "button", class: `scene ${kind}`, on: { click } }, h("b", {}, title), h("span", {}, about));
  const list = scenes.map((scene) => button(scene.title, scene.about, () => play(scene)));
  $("scene-list").replaceChildren(...list, button("重置", "回到小联赛", reset, "reset"));
}

/** Wire the panels; `asks` sends a deed to the server. */
export function setUpTools(asks) {
  ask = asks;
  const jumps = JUMPS.map(([what, label]) => {
    const click = () => begin({ do: "travel", what });
    return h("button", { type: "button", "data-jump": what, on: { click } }, label);
  });
  $("jumps").replaceChildren(...jumps);
  $("jump-to").addEventListener("submit", (event) => {
    event.preventDefault();
    begin({ do: "travel", what: $("jump-at").value });
    $("jump-at").value = "";
  });
  for (const button of document.querySelectorAll("#tools button")) {
    const { panel } = button.dataset;
    button.addEventListener("click", () => openPanel($("side").dataset.open === panel ? "" : panel));
  }
  $("stage").querySelector("button").addEventListener("click", () => {
    if (busy) ask({ do: "stop" });
    else $("stage").hidden = true;
  });
  const viewer = $("viewer");
  viewer.addEventListener("click", () => viewer.close());
  setInterval(showNow, TICK);
}

/** Show a picture as large as it is. */
export function enlarge(image, caption) {
  const viewer = $("viewer");
  viewer.querySelector("img").src = image;
  viewer.querySelector("img").alt = caption;
  viewer.showModal();
  viewer.scrollTop = 0;
}
