// A recorded hand, step by step, with both hands open and every bot's opinion.

import { $, ask, card, coloured, failed, groups, loadCards, make, panels, pile, scoreSheet, scores, sentence, store, turnRows } from "./common.js";

let setup = null;
let replay = null;
let step = 0;
let stage = 0;
let asked = 0;   // counts the questions, so that late answers are dropped
const opinions = new Map();
const notes = panels((open) => { if (open.has("opinions")) showOpinions(); });

async function load(hand) {
  const { status, answer } = await ask("replay", { hand });
  if (status !== 200) {
    $("loading").hidden = false;
    $("loading-text").textContent = answer.error;
    $("loading-detail").replaceChildren(make("a", { href: "/" }, "To the table"));
    return;
  }
  replay = answer;
  step = 0;
  stage = 0;
  history.replaceState(null, "", `?hand=${hand}`);
  render();
}

function render() {
  const now = replay.steps[step];
  const { names } = replay;
  $("loading").hidden = true;
  $("table").setAttribute("aria-busy", "false");
  for (const id of ["opponent", "middle", "mine"]) $(id).hidden = now.end !== null;
  for (const id of ["status", "bar"]) $(id).hidden = false;
  $("reveal").hidden = now.end === null;
  const ended = replay.sheet.find((row) => row.hand === replay.hand + 1);
  const shown = now.end && ended && stage >= now.end.stages.length - 1 ? ended.totals : replay.scores;
  scores({ ...replay, scores: shown }, names);
  $("turns").replaceChildren(...turnRows(now.turns, names));
  $("sheet").replaceChildren(...scoreSheet(replay.sheet, names, (hand) => make("a", { href: `?hand=${hand}`, onclick: (event) => { event.preventDefault(); load(hand); } }, "show")));
  if (now.end) renderEnd(now.end); else renderStep(now);
  $("previous").disabled = step === 0;
  $("forward").disabled = step === replay.steps.length - 1 && (!now.end || stage === now.end.stages.length - 1);
  $("previous-hand").disabled = replay.hand === 0;
  $("next-hand").disabled = replay.hand + 1 >= replay.num_hands;
  showOpinions();
}

function renderStep(now) {
  const marked = now.card;
  for (const [player, caption, box] of [[0, "mine-caption", "hand"], [1, "opponent-caption", "opponent-cards"]]) {
    const turn = now.to_move === player ? "▸ " : "";
    $(caption).textContent = `${turn}${replay.names[player]}: deadwood ${now.deadwood[player]}`;
    $(box).replaceChildren(...groups(now.hands[player], { marked: now.to_move === player ? marked : null, isNew: now.new }));
  }
  $("stock").replaceChildren(...card(null).childNodes);
  $("stock-caption").textContent = `Stock ${now.stock}`;
  const codes = pile(now.pile, 8);
  $("pile").replaceChildren(...codes.map((code, index) => card(code, "span", { class: index < codes.length - 1 ? "under" : "" })));
  $("last").textContent = `Hand ${replay.hand + 1} of ${replay.num_hands}, step ${step + 1} of ${replay.steps.length}`;
  const said = now.action ? `${replay.names[now.to_move]}: ${now.action}` : "The game was interrupted here.";
  $("prompt").replaceChildren(coloured(said));
  $("live").textContent = sentence(said);
}

function renderEnd(end) {
  const now = end.stages[stage];
  const marks = { laidOff: now.laid_off };
  $("reveal").replaceChildren(
    make("h2", {}, end.headline),
    ...[1, 0].map((player) => make("div", { class: "side" }, make("h3", {}, replay.names[player]), make("div", { class: "groups" }, ...groups(now.hands[player], marks)))),
    make("ol", { class: "steps" }, ...end.stages.slice(0, stage + 1).map((each) => make("li", {}, coloured(each.text)))),
  );
  $("last").textContent = `Hand ${replay.hand + 1} of ${replay.num_hands}, end`;
  $("prompt").textContent = "";
  $("live").textContent = sentence(now.text);
}

function move(by) {
  const { end } = replay.steps[step];
  if (end && stage + by >= 0 && stage + by < end.stages.length) stage += by;
  else if (step + by >= 0 && step + by < replay.steps.length) { step += by; stage = 0; }
  else return;
  render();
}

function otherHand(by) {
  const hand = replay.hand + 1 + by;
  if (hand >= 1 && hand <= replay.num_hands) load(hand);
}

/** Ask the bots one after the other; answers are kept. */
async function showOpinions() {
  const panel = document.querySelector("section[data-panel=opinions]");
  const question = ++asked;
  if (!replay || panel.hidden) return;
  const now = replay.steps[step];
  if (!now.action) { $("opinions").replaceChildren(make("p", {}, "Nobody decides here.")); return; }
  const [hand, place] = [replay.hand + 1, step];
  for (let number = 0; number <= setup.advisers.length; number++) {
    draw(hand, place, setup.advisers[number]);
    if (number === setup.advisers.length) return;
    const bot = setup.advisers[number];
    const key = `${hand} ${place} ${bot}`;
    if (!opinions.has(key)) {
      const { answer } = await ask("opinion", { hand, step: place, bot });
      opinions.set(key, answer);
      if (question !== asked) return;
    }
  }
}

function draw(hand, place, waiting) {
  const answers = setup.advisers.map((bot) => opinions.get(`${hand} ${place} ${bot}`)).filter((answer) => answer && !answer.error);
  const played = replay.steps[place].action;
  const texts = [...new Set([played, ...answers.map((answer) => answer.text)])];
  $("opinions").replaceChildren(
    ...texts.map((text) => make("div", { class: text === played ? "view played" : "view" },
      make("h3", {}, coloured(text), text === played ? make("small", {}, " as played") : ""),
      make("p", {}, answers.filter((answer) => answer.text === text).map((answer) => answer.bot + (answer.worth && !answer.same ? ` (${answer.worth})` : "")).join(", ") || "no bot so far"))),
    waiting ? make("p", { class: "thinking" }, `Asking ${waiting} …`) : "",
    ...[...new Set(setup.advisers.map((bot) => opinions.get(`${hand} ${place} ${bot}`)).filter((answer) => answer && answer.error).map((answer) => answer.error))].map((error) => make("p", { class: "caption" }, error)),
  );
}

$("previous").addEventListener("click", () => move(-1));
$("forward").addEventListener("click", () => move(1));
$("previous-hand").addEventListener("click", () => otherHand(-1));
$("next-hand").addEventListener("click", () => otherHand(1));
document.addEventListener("keydown", (event) => {
  if (!replay || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = { ArrowRight: () => move(1), n: () => move(1), ArrowLeft: () => move(-1), ArrowDown: () => otherHand(1), ArrowUp: () => otherHand(-1), o: () => notes.toggle("opinions"), Escape: () => notes.close() };
  if (keys[event.key]) { keys[event.key](); event.preventDefault(); }
});

async function start() {
  try {
    await loadCards();
    for (;;) {
      setup = (await ask("setup")).answer;
      if (!setup.compiling) break;
      $("loading-text").textContent = "Compiling the rules …";
      $("loading-detail").textContent = "This happens once on this computer and takes about 20 seconds.";
      await new Promise((done) => setTimeout(done, 500));
    }
    $("back-to-table").hidden = setup.recorded;
    await load(Number(new URLSearchParams(location.search).get("hand")) || 1);
    $("forward").focus();
  } catch (error) {
    failed(error, () => location.reload());
  }
}

start();
