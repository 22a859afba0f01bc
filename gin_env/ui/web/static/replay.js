// A hand that has ended, step by step, with both hands open, and its review.
//
// The hand comes from the game in this window (?hand=2), from the address itself (#1.…), or from a file of a page
// without a server (?file=games/1.json).

import { $, ask, card, coloured, comparison, curve, failed, groups, loadCards, make, panels, pile, scoreSheet, scores, sentence, turnRows, worth } from "./common.js";

let replay = null;
let reviews = null;   // one for each player whose choices were judged
let judge = "";
let worlds = 0;
let step = 0;
let stage = 0;
const notes = panels(() => {});
const file = new URLSearchParams(location.search).get("file");

/** Show a hand: {hand} of this window's game, {link}, or {file}. */
async function load(source) {
  const { status, answer } = await fetched(source);
  if (status !== 200) {
    $("loading").hidden = false;
    $("loading-text").textContent = answer.error || "There is no such hand.";
    $("loading-detail").replaceChildren(make("a", { href: "./" }, "To the table"));
    return;
  }
  replay = answer.replay || answer;
  reviews = null;
  step = 0;
  stage = 0;
  if (source.hand) history.replaceState(null, "", `?hand=${source.hand}`);
  for (const kind of ["gif", "png"]) {
    $(`save-${kind}`).href = `hand.${kind}?link=${encodeURIComponent(replay.link)}`;
    $(`save-${kind}`).hidden = Boolean(source.file);
  }
  render();
  if (answer.review) show(answer.review);
  else await judged(source);
}

async function fetched(source) {
  if (!source.file) return ask("replay", source);
  const response = await fetch(source.file);
  const { hands } = response.ok ? await response.json() : { hands: [] };
  const found = hands[(source.number || 1) - 1];
  return { status: found ? 200 : 404, answer: found || {} };
}

async function judged(source) {
  const shown = replay;
  $("review").replaceChildren(make("p", { class: "thinking" }, "The choices are played out …"));
  const { status, answer } = await ask("review", source);
  if (shown !== replay) return; // another hand has been opened
  if (status === 200) show(answer);
  else $("review").replaceChildren(make("p", {}, answer.error));
}

function show(answer) {
  reviews = answer.players;
  judge = answer.judge;
  worlds = answer.worlds;
  render();
}

// --- Drawing ----------------------------------------------------------------------------------------------

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
  $("turns").replaceChildren(...turnRows(now.turns, names, lostByTurn(now.turns)));
  $("sheet").replaceChildren(...scoreSheet(replay.sheet, names, (hand) => make("a", { href: file ? `?file=${file}` : `?hand=${hand}`, onclick: (event) => { event.preventDefault(); load(file ? { file, number: hand } : { hand }); } }, "show")));
  if (now.end) renderEnd(now.end); else renderStep(now);
  $("previous").disabled = step === 0;
  $("forward").disabled = step === replay.steps.length - 1 && (!now.end || stage === now.end.stages.length - 1);
  $("previous-hand").disabled = replay.hand === 0;
  $("next-hand").disabled = replay.hand + 1 >= replay.num_hands;
  for (const id of ["previous-hand", "next-hand"]) $(id).hidden = replay.num_hands === 1;
  renderReview();
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

/** The mistakes by the turn in which they were made, from the number of acts before them. */
function lostByTurn(turns) {
  const lost = new Map();
  if (!reviews) return lost;
  let acts = 0;
  turns.forEach((turn, index) => {
    for (const end = acts + (turn.discarded ? 2 : 1); acts < end; acts++) {
      const mistake = mistakes().find((move) => move.step === acts);
      if (mistake) lost.set(index, `${mistake.text} was better: ${mistake.lost.toFixed(1)} points lost`);
    }
  });
  return lost;
}

const mistakes = () => reviews.flatMap((one) => one.moves.filter((move) => move.mistake)).sort((a, b) => b.lost - a.lost);

function renderReview() {
  if (!reviews) { $("this-move").replaceChildren(); return; }
  const one = reviews[0];
  const marks = one.moves.flatMap((move, index) => (move.mistake ? [index + 1] : []));
  const after = one.moves.filter((move) => move.step <= step).length;
  const pick = (index) => goTo(index === 0 ? 0 : index > one.moves.length ? replay.steps.length - 1 : one.moves[index - 1].step);
  const costly = mistakes().slice(0, 3);
  $("review").replaceChildren(
    ...reviews.map((each) => make("p", {}, make("strong", {}, `${named(each)}: ${each.points} points. `), worth(each))),
    curve(one.chances, marks, pick, replay.steps[step].end ? one.chances.length - 1 : after),
    costly.length ? make("h3", {}, "The costliest moves") : make("p", {}, "No choice was clearly worse than the best."),
    make("ul", { class: "costly" }, ...costly.map((move) => make("li", {}, make("button", { class: "plain", onclick: () => goTo(move.step) },
      `−${move.lost.toFixed(1)}: `, coloured(playedIn(move)), "; better ", coloured(move.text)), make("p", { class: "caption" }, coloured(move.why))))),
    make("p", { class: "caption" }, `Judged by ${judge}: each move is played out in ${worlds} possible deals. Accuracy is the share of choices that give away less than half a point.`),
  );
  const move = reviews.flatMap((each) => each.moves).find((each) => each.step === step);
  if (!move || replay.steps[step].end) $("this-move").replaceChildren();
  else $("this-move").replaceChildren(make("h3", {}, move.mistake ? `This move gives away ${move.lost.toFixed(1)} points` : "This move"), ...comparison(move));
}

const playedIn = (move) => (move.moves.find((line) => line.played) || { move: "" }).move;
const named = (one) => replay.names[one.player];

// --- Moving -----------------------------------------------------------------------------------------------

function goTo(place) {
  step = Math.min(Math.max(place, 0), replay.steps.length - 1);
  stage = 0;
  if (notes.open.has("review")) notes.close(); // on a phone it covers the table
  render();
}

function move(by) {
  const { end } = replay.steps[step];
  if (end && stage + by >= 0 && stage + by < end.stages.length) stage += by;
  else if (step + by >= 0 && step + by < replay.steps.length) { step += by; stage = 0; }
  else return;
  render();
}

function nextMistake() {
  const later = reviews ? mistakes().map((each) => each.step).sort((a, b) => a - b) : [];
  if (later.length) goTo(later.find((place) => place > step) ?? later[0]);
}

function otherHand(by) {
  const hand = replay.hand + 1 + by;
  if (hand >= 1 && hand <= replay.num_hands) load(file ? { file, number: hand } : { hand });
}

async function copyLink() {
  const address = `${location.origin}${location.pathname}#${replay.link}`;
  try {
    await navigator.clipboard.writeText(address);
    $("copy-link").textContent = "Copied";
  } catch {
    location.hash = replay.link;
    $("copy-link").textContent = "It is in the address bar";
  }
  setTimeout(() => { $("copy-link").textContent = "Copy link"; }, 2500);
}

$("previous").addEventListener("click", () => move(-1));
$("forward").addEventListener("click", () => move(1));
$("previous-hand").addEventListener("click", () => otherHand(-1));
$("next-hand").addEventListener("click", () => otherHand(1));
$("copy-link").addEventListener("click", copyLink);
addEventListener("hashchange", () => { if (location.hash.length > 1 && location.hash.slice(1) !== replay?.link) start(); });
document.addEventListener("keydown", (event) => {
  if (!replay || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = { ArrowRight: () => move(1), n: () => move(1), ArrowLeft: () => move(-1), ArrowDown: () => otherHand(1), ArrowUp: () => otherHand(-1), r: () => notes.toggle("review"), w: nextMistake, Escape: () => notes.close() };
  if (keys[event.key]) { keys[event.key](); event.preventDefault(); }
});

async function start() {
  try {
    if (!document.querySelector("svg.sheet")) await loadCards();
    if (file) {
      await load({ file });
    } else {
      for (;;) {
        const { answer } = await ask("setup");
        $("back-to-table").hidden = answer.recorded;
        if (!answer.compiling) break;
        $("loading-text").textContent = "Compiling the rules …";
        $("loading-detail").textContent = "This happens once on this computer and takes about 20 seconds.";
        await new Promise((done) => setTimeout(done, 500));
      }
      const link = location.hash.slice(1);
      await load(link ? { link } : { hand: Number(new URLSearchParams(location.search).get("hand")) || 1 });
    }
    $("forward").focus();
  } catch (error) {
    failed(error, () => location.reload());
  }
}

start();
