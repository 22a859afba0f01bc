// Positions to think about: which move would you make? All puzzles and their answers are in one file.

import { $, card, coloured, comparison, failed, loadCards, make, panels, pile, sentence, spoken, turnRows, written } from "./common.js";

const KEY = "gin-rummy-puzzles";
const DAY = 24 * 60 * 60 * 1000;
let puzzles = [];
let index = 0;
let selected = null;   // the chosen card
let answered = null;   // the action that was chosen
const notes = panels(() => {});

const current = () => puzzles[index];
const solved = () => { try { return new Set(JSON.parse(localStorage.getItem(KEY) || "[]")); } catch { return new Set(); } };

function remember(number) {
  try { localStorage.setItem(KEY, JSON.stringify([...solved().add(number)])); } catch { /* private mode */ }
}

/** The moves with one card: {discard, knock}, as action numbers. */
function movesWith(code) {
  const moves = {};
  for (const [action, each] of Object.entries(current().cards)) if (each === code) moves[Number(action) < 52 ? "discard" : "knock"] = Number(action);
  return moves;
}

function show(number) {
  index = ((number % puzzles.length) + puzzles.length) % puzzles.length;
  selected = answered = null;
  history.replaceState(null, "", `#${index + 1}`);
  notes.close();
  render();
}

function render() {
  const puzzle = current();
  $("loading").hidden = true;
  $("table").setAttribute("aria-busy", "false");
  for (const id of ["opponent", "middle", "mine", "status", "bar"]) $(id).hidden = false;
  $("title").textContent = `Puzzle ${index + 1} of ${puzzles.length}${index === today() ? " · of the day" : ""}`;
  $("opponent-caption").textContent = `Your opponent holds ${puzzle.closed + puzzle.known.length} cards. The score is ${puzzle.scores.join(" to ")}.`;
  $("opponent-cards").replaceChildren(...Array.from({ length: puzzle.closed }, () => card(null)), ...puzzle.known.map((code) => card(code, "span", { class: "known" })));
  $("stock").replaceChildren(...card(null).childNodes);
  $("stock-caption").textContent = `Stock ${puzzle.stock}`;
  const codes = pile(puzzle.pile, 8);
  $("pile").replaceChildren(...codes.map((code, place) => card(code, "span", { class: place < codes.length - 1 ? "under" : "" })));
  $("turns").replaceChildren(...turnRows(puzzle.turns, ["You", "They"]));
  renderHand();
  renderActions();
  renderAnswer();
}

function renderHand() {
  const puzzle = current();
  const cards = puzzle.hand.flatMap((group) => group.cards.map((code, place) => ({ code, kind: group.caption.split(" ")[0], first: place === 0 })));
  $("hand").style.setProperty("--n", cards.length);
  $("hand").style.setProperty("--groups", puzzle.hand.length);
  $("hand").replaceChildren(...cards.map(({ code, kind, first }, place) => {
    const button = card(code, "button", {
      class: [kind, code === selected && "selected", code === puzzle.new && "new", first && place > 0 && "first"].filter(Boolean).join(" "),
      "aria-label": `${spoken(code)}, ${kind === "deadwood" ? "deadwood" : `in a ${kind}`}`, "aria-pressed": code === selected,
      onclick: () => { if (answered === null && Object.keys(movesWith(code)).length) { selected = code; render(); document.querySelector("#hand .selected").focus(); } },
    });
    if (first) button.append(make("i", { class: "label", "aria-hidden": "true" }, kind));
    return button;
  }));
}

function renderActions() {
  const puzzle = current();
  const buttons = [];
  const add = (text, todo, kind = "primary") => buttons.push(make("button", { class: kind, onclick: todo }, coloured(text)));
  const moves = selected ? movesWith(selected) : {};
  if (answered !== null) {
    add("Next puzzle", () => show(index + 1));
    add("Try again", () => { answered = selected = null; render(); }, "plain");
  } else if (Object.keys(puzzle.cards).length) {
    if (moves.discard !== undefined) add(`Discard ${written(selected)}`, () => answer(moves.discard));
    if (moves.knock !== undefined) add(puzzle.moves[moves.knock][0].toUpperCase() + puzzle.moves[moves.knock].slice(1), () => answer(moves.knock), "gold");
    add("Another puzzle", () => show(index + 1), "plain");
  } else {
    for (const [action, text] of Object.entries(puzzle.moves)) add(text[0].toUpperCase() + text.slice(1), () => answer(Number(action)));
    add("Another puzzle", () => show(index + 1), "plain");
  }
  $("actions").replaceChildren(...buttons);
  const question = Object.keys(puzzle.cards).length ? (selected ? "" : "What do you discard? Choose a card.") : "What do you do?";
  $("prompt").textContent = answered === null ? question : answered === puzzle.best ? "Right!" : "There is a better move.";
  $("last").textContent = `Solved so far: ${solved().size} of ${puzzles.length}`;
}

function answer(action) {
  answered = action;
  if (action === current().best) remember(index);
  if (!notes.open.has("answer") && matchMedia("(max-width: 1099px)").matches) notes.toggle("answer");
  render();
  $("actions").querySelector("button").focus();
  $("live").textContent = sentence(`${$("prompt").textContent} ${current().answers[current().best].why}`);
}

function renderAnswer() {
  const puzzle = current();
  if (answered === null) {
    $("answer").replaceChildren(make("p", {}, `${puzzle.missed.length} of ${Object.keys(puzzle.bots).length} bots miss this one.`));
    return;
  }
  const shown = puzzle.answers[answered] || puzzle.answers[puzzle.best];
  const byMove = new Map();
  for (const [bot, text] of Object.entries(puzzle.bots)) byMove.set(text, [...(byMove.get(text) || []), bot]);
  $("answer").replaceChildren(
    make("p", {}, make("strong", {}, answered === puzzle.best ? "Right: " : "Better: ", coloured(puzzle.moves[puzzle.best]), ".")),
    ...comparison(shown),
    puzzle.answers[answered] ? "" : make("p", { class: "caption" }, "Your move was not among those worth playing out."),
    make("h3", {}, "What the bots play"),
    make("ul", {}, ...[...byMove].map(([text, bots]) => make("li", {}, coloured(text), `: ${bots.join(", ")}`))),
  );
}

const today = () => Math.floor(Date.now() / DAY) % puzzles.length;

async function start() {
  try {
    await loadCards();
    puzzles = (await (await fetch("puzzles.json")).json()).puzzles;
    const wanted = Number(location.hash.slice(1));
    show(wanted >= 1 && wanted <= puzzles.length ? wanted - 1 : today());
  } catch (error) {
    failed(error, () => location.reload());
  }
}

document.addEventListener("keydown", (event) => {
  if (!puzzles.length || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = { ArrowRight: () => show(index + 1), ArrowLeft: () => show(index - 1), Escape: () => notes.close() };
  if (keys[event.key] && !document.activeElement.closest("#hand")) { keys[event.key](); event.preventDefault(); }
});

start();
