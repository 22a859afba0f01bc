// The table. All that is known about the game is what the server sends: what the player may see.

import { $, ask, beliefTable, card, coloured, comparison, curve, failed, groups, loadCards, make, panels, pile, scoreSheet, scores, sentence, spoken, store, turnRows, worth, written } from "./common.js";
import { addResult, showResults } from "./results.js";
import { click, soundIsOn, turnSound } from "./sound.js";

const ORDERS = ["melds", "ranks", "suits"];
const RANK_ORDER = "A23456789TJQK";
const KEYS = "1234567890-";
const still = matchMedia("(prefers-reduced-motion: reduce)");

let setup = null;
let game = null;        // the last answer: {token, version, practice, table}
let selected = null;    // the chosen card
let focused = null;     // the card with the focus, for the arrow keys
let hint = null;        // the hint for this moment
let review = null;      // the review of the hand that has just ended
let stage = 0;          // how far the hand is revealed
let timer = null;
let busy = false;
let order = store.get("order") || "melds";
let own = JSON.parse(store.get("own") || "[]");

const notes = panels((open) => {
  if (open.has("hint")) showHint();
  if (open.has("belief")) showBelief();
  showLastTurn();
});

// --- Starting ---------------------------------------------------------------------------------------------

async function start() {
  try {
    await loadCards();
    const began = Date.now();
    for (;;) {
      setup = (await ask("setup")).answer;
      if (!setup.compiling) break;
      $("loading-text").textContent = "Compiling the rules …";
      const seconds = Math.round((Date.now() - began) / 1000);
      $("loading-detail").textContent = `This happens once on this computer and takes about 20 seconds, more on a busy one (${seconds} so far).`;
      await new Promise((done) => setTimeout(done, 500));
    }
    fillMenu();
    const found = store.get("token") ? await ask("table") : { status: 404 };
    if (found.status === 200) receive(found.answer);
    else await newGame(setup.opponent, setup.rules, false);
  } catch (error) {
    failed(error, () => location.reload());
  }
}

async function newGame(opponent, rules, practice) {
  $("loading").hidden = false;
  const known = setup.levels.find(({ bot }) => bot === opponent);
  $("loading-text").textContent = `Asking ${known ? known.name : opponent} to the table …`;
  $("loading-detail").textContent = "The first game against an opponent takes longer: its part of the engine is compiled, or its network loaded.";
  const { status, answer } = await ask("new", { opponent, rules, practice });
  if (status !== 200) {
    $("loading-text").textContent = answer.error;
    $("loading-detail").replaceChildren(make("button", { class: "primary", onclick: openMenu }, "Choose another opponent"));
    return;
  }
  receive(answer);
}

function fillMenu() {
  $("levels").append(...setup.levels.map(({ name, level, bot, rating, available }) => make("label", { class: "level" },
    make("input", { type: "radio", name: "level", value: bot, checked: bot === setup.opponent, disabled: !available }),
    make("span", {}, make("b", {}, name), make("small", {}, available ? level + (rating ? ` · ${rating}` : "") : `${level}: needs PyTorch (pip install "gin-env[train]")`)))));
  $("sound").checked = soundIsOn();
  $("variant").append(...setup.variants.map(({ name, title }) => make("option", { value: name, selected: name === setup.rules }, title)));
  describeVariant();
}

function describeVariant() {
  const { summary, words } = setup.variants.find(({ name }) => name === $("variant").value);
  $("variant-summary").textContent = `${summary}.`;
  $("rules").replaceChildren(...words.split("\n").map((line) => make("p", {}, line)));
}

/** The dialog, with the choices of the game in progress. */
function openMenu() {
  if (!setup) return;
  if (game) {
    const level = [...document.querySelectorAll("input[name=level]")].find((input) => input.value === game.table.bot);
    if (level) level.checked = true;
    $("variant").value = game.table.rules;
    if (!$("variant").value) $("variant").value = setup.rules;
    describeVariant();
    $("practice").checked = game.practice;
  }
  $("menu").showModal();
  const checked = $("menu").querySelector("input[name=level]:checked");
  if (checked) checked.focus();
}

$("variant").addEventListener("change", describeVariant);
$("open-menu").addEventListener("click", openMenu);
$("sound").addEventListener("change", () => { turnSound($("sound").checked); click(); });
$("menu").addEventListener("close", async () => {
  if ($("menu").returnValue !== "start") return;
  $("menu").returnValue = "";
  turnSound($("sound").checked);
  if (isInProgress() && !(await confirmed())) return;
  newGame($("menu").querySelector("input[name=level]:checked").value, $("variant").value, $("practice").checked).catch((error) => failed(error, () => location.reload()));
});

/** Whether a game would be lost by a new one. */
function isInProgress() {
  return game && !(game.table.end && game.table.end.game_over) && (game.table.sheet.length > 0 || game.table.turns.some((turn) => turn.player === 0));
}

/** Ask before a game is ended. */
function confirmed() {
  const [own, other] = game.table.scores;
  $("confirm-text").textContent = `The score is ${own} to ${other} against ${game.table.opponent}. A game that is not played to its end does not count.`;
  $("confirm").returnValue = "no";
  $("confirm").showModal();
  return new Promise((done) => $("confirm").addEventListener("close", () => done($("confirm").returnValue === "yes"), { once: true }));
}

// --- Talking to the server --------------------------------------------------------------------------------

async function send(name, content = {}) {
  if (busy) return;
  busy = true;
  $("table").setAttribute("aria-busy", "true");
  const waiting = setTimeout(() => { if (name === "bot") $("prompt").textContent = `${game.table.opponent} is thinking …`; }, 400);
  try {
    const { status, answer } = await ask(name, { version: game.version, ...content });
    busy = false;
    if (answer.table) {
      receive(answer, name);
      if (answer.error) say(answer.error);
    } else if (status === 404) await newGame(setup.opponent, setup.rules, false);
    else say(answer.error);
  } catch {
    offline();
  } finally {
    busy = false;
    clearTimeout(waiting);
    $("table").setAttribute("aria-busy", "false");
  }
}

/** Say that the server does not answer, and ask again until it does. */
async function offline() {
  if (!$("offline").hidden) return;
  $("offline").hidden = false;
  clearTimeout(timer);
  for (;;) {
    await new Promise((done) => setTimeout(done, 2000));
    try {
      const { status, answer } = await ask("table");
      $("offline").hidden = true;
      if (status === 200) receive(answer);
      return;
    } catch { /* not yet */ }
  }
}

function receive(answer, cause = null) {
  const before = game && game.table;
  store.set("token", answer.token);
  game = answer;
  hint = null;
  if (!game.table.end) review = null;
  else if (!(before && before.end)) ended();
  if (before && cause) click();
  if (!sameHand(before, game.table)) { own = own.filter((code) => codes().includes(code)); if (!before || before.hand_number !== game.table.hand_number) own = []; }
  if (!codes().includes(selected) || !game.table.actions.discards) selected = null;
  if (!game.table.end || !(before && before.end)) stage = 0;
  if (game.table.end && (still.matches ? false : cause === null)) stage = game.table.end.stages.length - 1;
  render(before, cause);
  clearTimeout(timer);
  if (game.table.waits_for_bot) timer = setTimeout(() => send("bot"), still.matches ? 0 : 1000 * setup.bot_delay);
  else if (game.table.end && !still.matches) timer = setTimeout(nextStage, 1400);
  if (notes.open.has("belief")) showBelief();
  if (notes.open.has("hint")) showHint();
}

const sameHand = (before, now) => before && before.hand_number === now.hand_number;
const codes = () => game.table.hand.flatMap((group) => group.cards);

function say(text) {
  $("prompt").replaceChildren(coloured(text));
  $("live").textContent = sentence(text);
}

// --- Drawing ----------------------------------------------------------------------------------------------

function render(before = null, cause = null) {
  const table = game.table;
  const names = ["You", table.opponent];
  const places = placesOfCards();
  $("loading").hidden = true;
  $("table").setAttribute("aria-busy", "false");
  $("table").classList.toggle("ended", table.end !== null);
  document.querySelector("#tools [data-panel=hint]").hidden = table.end !== null;
  for (const id of ["opponent", "middle", "mine"]) $(id).hidden = table.end !== null;
  $("reveal").hidden = table.end === null;
  for (const id of ["status", "bar"]) $(id).hidden = false;
  $("undo").hidden = !game.practice;
  $("undo").disabled = !canUndo() || (table.end && table.end.game_over !== null);
  $("turns").replaceChildren(...turnRows(table.turns, names));
  showLastTurn();
  renderScores();
  if (table.end) renderEnd(); else renderTable();
  renderActions();
  announce();
  if (!still.matches) animate(places, before, cause);
  keepFocus();
}

function showLastTurn() {
  const log = document.querySelector("section[data-panel=turns]");
  log.scrollTop = log.scrollHeight;
}

/** Scores and score sheet; until a hand has been revealed, those before it. */
function renderScores() {
  const { table } = game;
  const names = ["You", table.opponent];
  const hidden = table.end && !isRevealed();
  const sheet = hidden ? table.sheet.slice(0, -1) : table.sheet;
  const shown = hidden ? (sheet.length ? sheet[sheet.length - 1].totals : [0, 0]) : table.scores;
  scores({ ...table, scores: shown }, names, table.end ? null : Number(table.waits_for_bot));
  $("sheet").replaceChildren(...scoreSheet(sheet, names, (hand) => make("a", { href: `/replay?hand=${hand}` }, "replay")));
  showResults($("results"), table.opponent);
  $("boxes").textContent = hidden ? "" : table.boxes.join(" ");
}

const isRevealed = () => stage >= game.table.end.stages.length - 1;

function renderTable() {
  const table = game.table;
  const known = table.known.length ? `, ${table.known.length} of them taken from the pile` : "";
  $("opponent-caption").textContent = `${table.opponent} holds ${table.closed + table.known.length} cards${known}`;
  $("opponent-cards").replaceChildren(...Array.from({ length: table.closed }, () => card(null)),
    ...table.known.map((code) => card(code, "span", { class: "known" })));
  const stock = card(null, "button", { id: "stock", title: "Draw from the stock (S)", "aria-label": `Stock, ${table.stock} cards`, onclick: () => act("stock") });
  stock.classList.toggle("live", table.actions.stock !== undefined);
  stock.setAttribute("aria-disabled", table.actions.stock === undefined);
  $("stock").replaceWith(stock);
  $("stock-caption").textContent = `Stock ${table.stock}`;
  const shown = pile(table.pile, 6);
  $("pile").replaceChildren(...shown.map((code, index) => {
    const top = index === shown.length - 1;
    if (!top) return card(code, "span", { class: "under" });
    const taken = table.actions.upcard !== undefined;
    return card(code, "button", {
      class: taken ? "live" : "", id: "upcard", title: "Take the upcard (U)", "aria-disabled": !taken,
      "aria-label": code ? `Upcard, ${spoken(code)}` : "Empty discard pile", onclick: () => act("upcard"),
    });
  }));
  renderHand();
  $("deadwood").replaceChildren(`Deadwood ${table.deadwood}`, table.actions.discards ? make("span", { class: "long" }, " after the best discard") : "");
  $("limit").textContent = table.limit ? `knock at ${table.limit}` : "gin only";
  $("sort").textContent = `Sort: ${order === "own" ? "yours" : order}`;
  $("last").replaceChildren(coloured(table.last));
  $("prompt").replaceChildren(coloured(promptText()));
}

function promptText() {
  const table = game.table;
  const option = chosen();
  if (!option) return table.prompt;
  if (option.discard === null) return `${written(selected)} was just taken from the pile: it cannot be discarded in this turn.`;
  const name = written(selected);
  if (option.gin) return `${name} leaves no deadwood: tap again to go ${option.gin}.`;
  const best = bestKnock();
  const gin = best && table.actions.discards[best].gin;
  if (gin) return `${gin[0].toUpperCase()}${gin.slice(1)} is possible with ${written(best)}; tap ${name} again to discard it.`;
  return `${name} leaves ${option.deadwood} deadwood: tap again to discard it${option.knock === null ? "" : `, or knock (${option.deadwood})`}.`;
}

/** The player's cards in the chosen order, each with the kind of its group. */
function sorted() {
  const list = game.table.hand.flatMap(({ cards, caption }, number) => cards.map((code, index) => ({ code, kind: caption.split(" ")[0], first: index === 0, number })));
  const rank = (code) => RANK_ORDER.indexOf(code[0]);
  const suit = (code) => "CHSD".indexOf(code[1]);
  if (order === "ranks") list.sort((a, b) => rank(a.code) - rank(b.code) || suit(a.code) - suit(b.code));
  if (order === "suits") list.sort((a, b) => suit(a.code) - suit(b.code) || rank(a.code) - rank(b.code));
  if (order === "own") {
    const place = (code) => (own.includes(code) ? own.indexOf(code) : own.length + rank(code));
    list.sort((a, b) => place(a.code) - place(b.code));
  }
  return list;
}

function renderHand() {
  const table = game.table;
  const list = sorted();
  if (!list.some((item) => item.code === focused)) focused = table.new || list[0].code;
  $("hand").style.setProperty("--n", list.length);
  $("hand").style.setProperty("--groups", order === "melds" ? table.hand.length : 1);
  $("hand").replaceChildren(...list.map(({ code, kind, first, number }, index) => {
    const option = table.actions.discards && table.actions.discards[code];
    const words = [kind === "deadwood" ? "deadwood" : `in a ${kind}`, code === table.new && "just drawn", option && option.discard === null && "cannot be discarded now"];
    const advised = hint && hint.card === code;
    const button = card(code, "button", {
      class: [kind, code === selected && "selected", code === table.new && "new", advised && "advised", order === "melds" && first && index > 0 && "first", option && option.discard === null && "blocked"].filter(Boolean).join(" "),
      "aria-label": [spoken(code), ...words, advised && "advised by the hint"].filter(Boolean).join(", "),
      "aria-pressed": code === selected, tabindex: code === focused ? 0 : -1,
    });
    if (order === "melds" && first) button.append(make("i", { class: "label", "aria-hidden": "true" }, kind));
    button.addEventListener("focus", () => { focused = code; for (const each of $("hand").children) each.tabIndex = each === button ? 0 : -1; });
    button.addEventListener("click", () => choose(code));
    button.addEventListener("pointerdown", (event) => drag(event, button, code));
    return button;
  }));
}

function renderActions() {
  const { actions, end } = game.table;
  const buttons = [];
  const add = (text, todo, kind = "", title = "") => buttons.push(make("button", { class: kind, onclick: todo, title }, coloured(text)));
  if (end) {
    const last = stage >= end.stages.length - 1;
    if (!last) { add("Next step", nextStage, "primary", "N"); add("Show all", () => { stage = end.stages.length; nextStage(); }, "plain"); }
    else if (end.game_over) add("New game", openMenu, "primary", "N");
    else add("Next hand", () => send("next"), "primary", "N");
    if (last) buttons.push(make("a", { class: "plain button", href: `/replay?hand=${game.table.sheet.length}` }, "Review"));
  } else if (actions.discards) {
    const knock = knockCard();
    const option = chosen();
    if (option && option.discard !== null && !option.gin) add(`Discard ${written(selected)}`, discard, "primary", "D");
    if (knock) {
      const { deadwood, gin } = actions.discards[knock];
      add(gin ? `${gin[0].toUpperCase()}${gin.slice(1)} with ${written(knock)}` : `Knock with ${written(knock)} (${deadwood})`, knockNow, "gold", "K");
    }
    if (option && option.gin) add("Discard, no gin", discardWithoutGin, "plain", "X");
  } else {
    if (actions.upcard !== undefined) add(`Take ${written(game.table.upcard)}`, () => act("upcard"), "", "U");
    if (actions.stock !== undefined) add("Draw from stock", () => act("stock"), "", "S");
    if (actions.pass !== undefined) add("Pass", () => act("pass"), "", "P");
  }
  $("actions").replaceChildren(...buttons);
}

function renderEnd() {
  const { end, opponent } = game.table;
  const now = end.stages[Math.min(stage, end.stages.length - 1)];
  const last = stage >= end.stages.length - 1;
  const marks = { laidOff: now.laid_off };
  $("reveal").replaceChildren(
    make("h2", {}, last ? (end.game_over ? end.game_over.text : end.headline) : "The hand is over"),
    last && end.game_over ? make("p", { class: "result" }, `${end.headline}. ${end.game_over.decided}`) : "",
    make("div", { class: "side" }, make("h3", {}, opponent), make("div", { class: "groups" }, ...groups(now.hands[1], marks))),
    make("div", { class: "side" }, make("h3", {}, "You"), make("div", { class: "groups" }, ...groups(now.hands[0], marks))),
    make("ol", { class: "steps" }, ...end.stages.slice(0, stage + 1).map((each) => make("li", {}, coloured(each.text)))),
    last ? make("div", { id: "worth" }) : "",
  );
  showWorth();
  $("last").textContent = "";
  $("prompt").textContent = "";
}

/** Count the hand once, and have its choices judged. */
async function ended() {
  const { table, token } = game;
  const row = table.sheet[table.sheet.length - 1];
  if (!game.practice && row) addResult({ id: `${token}-${table.hand_number}`, opponent: table.opponent, points: row.winner === null ? 0 : row.winner === 0 ? row.points : -row.points, game: table.end.game_over ? table.end.game_over.winner : null });
  try {
    const { status, answer } = await ask("review", { hand: table.sheet.length });
    if (game.token === token && game.table.end && status === 200) review = answer.players[0];
  } catch { /* the replay asks again */ }
  showWorth();
}

/** Below the count: what cards and choices were worth. */
function showWorth() {
  const box = $("worth");
  if (!box) return;
  if (!review) { box.replaceChildren(make("p", { class: "thinking" }, "Your choices are played out …")); return; }
  const marks = review.moves.flatMap((move, index) => (move.mistake ? [index + 1] : []));
  box.replaceChildren(make("p", {}, worth(review)), curve(review.chances, marks));
}

function nextStage() {
  clearTimeout(timer);
  if (!game.table.end) return;
  const places = placesOfCards();
  const last = game.table.end.stages.length - 1;
  stage = Math.min(stage + 1, last);
  renderEnd();
  renderScores();
  renderActions();
  announce();
  if (!still.matches) animate(places, null, null);
  keepFocus();
  const steps = document.querySelector(".steps");
  if (steps) steps.lastElementChild.scrollIntoView({ block: "nearest" });
  if (stage < last && !still.matches) timer = setTimeout(nextStage, 1400);
}

function announce() {
  const { table } = game;
  let text = [table.last, promptText()].filter(Boolean).join(" ");
  if (table.end) {
    const last = stage >= table.end.stages.length - 1;
    text = [table.end.stages[stage].text, last && table.end.headline, last && table.end.game_over && table.end.game_over.text].filter(Boolean).join(" ");
  }
  document.title = table.end || table.waits_for_bot ? "Gin Rummy" : "Your turn · Gin Rummy";
  $("live").textContent = sentence(text);
}

/** Keep the focus where the keys are expected: on a card, a pile, or the one button there is. */
function keepFocus() {
  if ($("menu").open) return;
  const active = document.activeElement;
  if (active && active !== document.body && document.contains(active) && !active.closest("#hand") && active.offsetParent) return;
  const { end, actions } = game.table;
  if (end) ($("actions").querySelector("button") || $("open-menu")).focus({ preventScroll: true });
  else if (actions.discards || game.table.waits_for_bot) ($("hand").querySelector("[tabindex='0']") || document.body).focus({ preventScroll: true });
  else (actions.stock === undefined ? $("upcard") : $("stock")).focus({ preventScroll: true });
}

// --- Movement ---------------------------------------------------------------------------------------------

function placesOfCards() {
  const places = new Map();
  for (const element of document.querySelectorAll("#table [data-card]")) places.set(element.dataset.card, element.getBoundingClientRect());
  places.set("stock", $("stock").getBoundingClientRect());
  places.set("opponent", $("opponent-cards").getBoundingClientRect());
  return places;
}

/** Let every card move from where it was; one that is new comes from the stock or from the opponent. */
function animate(places, before, cause) {
  for (const element of document.querySelectorAll("#table [data-card]")) {
    let from = places.get(element.dataset.card);
    if (!from && before && !game.table.end) from = cause === "bot" ? places.get("opponent") : places.get("stock");
    const to = element.getBoundingClientRect();
    if (!from || !from.width || !to.width) continue;
    const [x, y] = [from.left - to.left, from.top - to.top];
    if (Math.abs(x) + Math.abs(y) < 2) continue;
    slide(element, x, y, cause === "bot" ? 520 : 260);
  }
  const drawn = $("opponent-cards").firstElementChild; // the opponent's card from the stock, which is closed
  if (before && cause === "bot" && game.table.stock < before.stock && drawn) {
    const [from, to] = [places.get("stock"), drawn.getBoundingClientRect()];
    slide(drawn, from.left - to.left, from.top - to.top, 520);
  }
}

function slide(element, x, y, duration) {
  element.animate([{ transform: `translate(${x}px, ${y}px)`, zIndex: 5 }, { transform: "none", zIndex: 5 }], { duration, easing: "cubic-bezier(.2,.7,.3,1)" });
}

/** Drag a card: within the hand to sort it, onto the pile to do what a second tap does. */
function drag(event, button, code) {
  if (event.button !== 0) return;
  const start = { x: event.clientX, y: event.clientY };
  let moving = false;
  button.setPointerCapture(event.pointerId);
  const move = (now) => {
    const [x, y] = [now.clientX - start.x, now.clientY - start.y];
    if (!moving && Math.hypot(x, y) < 8) return;
    if (!moving) { moving = true; button.classList.add("dragged"); }
    button.style.transform = `translate(${x}px, ${y}px)`;
    $("discards").classList.toggle("target", isOver($("discards"), now) && mayDiscard(code));
  };
  const end = (now) => {
    button.removeEventListener("pointermove", move);
    button.removeEventListener("pointerup", end);
    button.removeEventListener("pointercancel", end);
    if (!moving) return;
    addEventListener("click", (click) => { click.stopPropagation(); click.preventDefault(); }, { capture: true, once: true });
    setTimeout(() => dispatchEvent(new Event("click")), 0); // uses up the listener if no click follows
    $("discards").classList.remove("target");
    if (now.type === "pointerup" && isOver($("discards"), now) && mayDiscard(code)) {
      selected = code;
      playChosen();
      return;
    }
    const places = placesOfCards();
    if (now.type === "pointerup") sortTo(code, now);
    renderTable();
    renderActions();
    if (!still.matches) animate(places, null, null);
  };
  button.addEventListener("pointermove", move);
  button.addEventListener("pointerup", end);
  button.addEventListener("pointercancel", end);
}

function isOver(element, event) {
  const box = element.getBoundingClientRect();
  return event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
}

/** Put a card where it was dropped, by the distance to the other cards. */
function sortTo(code, event) {
  const others = [...$("hand").children].filter((element) => element.dataset.card !== code);
  let place = others.length;
  let nearest = Infinity;
  others.forEach((element, index) => {
    const box = element.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const distance = Math.hypot(event.clientX - x, 2 * (event.clientY - y));
    if (distance < nearest) { nearest = distance; place = index + (event.clientX > x ? 1 : 0); }
  });
  own = others.map((element) => element.dataset.card);
  own.splice(place, 0, code);
  setOrder("own");
}

function setOrder(name) {
  order = name;
  store.set("order", order);
  store.set("own", JSON.stringify(own));
}

// --- Acting -----------------------------------------------------------------------------------------------

function act(name) {
  const action = game.table.actions[name];
  if (action !== undefined) send("act", { action });
  else say(whyNot(name));
}

function whyNot(name) {
  const { table } = game;
  if (table.end) return "The hand is over.";
  if (table.waits_for_bot) return `It is ${table.opponent}'s turn.`;
  if (table.actions.discards) return { stock: "You have drawn already: discard a card.", upcard: "You have drawn already: discard a card.", pass: "You can pass only in the opening offer." }[name];
  return { stock: "The upcard is offered first: take it or pass.", upcard: "The stock is the only choice after two passes.", pass: "You can pass only in the opening offer." }[name];
}

function mayDiscard(code) {
  const { discards } = game.table.actions;
  return !busy && discards !== undefined && discards[code] && discards[code].discard !== null;
}

function choose(code) {
  focused = code;
  if (!game.table.actions.discards) {
    say(game.table.waits_for_bot ? `It is ${game.table.opponent}'s turn.` : "Draw first.");
    return;
  }
  if (selected === code) { playChosen(); return; }
  selected = code;
  render();
}

/** What the server says about discarding the chosen card. */
const chosen = () => selected && game.table.actions.discards && game.table.actions.discards[selected];

/** Discard the chosen card, or go gin with it: gin is given up only by `discardWithoutGin`. */
function playChosen() {
  if (chosen() && chosen().gin) knockNow();
  else discard();
}

function discard() {
  if (!game.table.actions.discards) { say(game.table.waits_for_bot ? `It is ${game.table.opponent}'s turn.` : "Draw first."); return; }
  if (selected === null) { say("Choose a card first."); return; }
  if (!mayDiscard(selected)) { say(promptText()); return; }
  send("act", { action: game.table.actions.discards[selected].discard });
}

function discardWithoutGin() {
  if (chosen() && chosen().gin) discard();
  else say("X is for a chosen card that makes gin.");
}

/** The card to knock with: the chosen one, otherwise the one that leaves least. */
function knockCard() {
  const { discards } = game.table.actions;
  if (discards && selected) return discards[selected].knock === null ? null : selected;
  return bestKnock();
}

function bestKnock() {
  const { discards } = game.table.actions;
  if (!discards) return null;
  const possible = Object.keys(discards).filter((code) => discards[code].knock !== null);
  return possible.sort((a, b) => discards[a].deadwood - discards[b].deadwood)[0] || null;
}

function knockNow() {
  const code = knockCard();
  if (code) send("act", { action: game.table.actions.discards[code].knock });
  else if (!game.table.actions.discards) say("You can knock when you discard: draw first.");
  else if (selected) say(`You cannot knock with ${written(selected)}: ${game.table.actions.discards[selected].deadwood} deadwood would be left.`);
  else say("You cannot knock yet: too much deadwood.");
}

const canUndo = () => game.table.turns.some((turn) => turn.player === 0) || game.table.sheet.length > 0;
$("undo").addEventListener("click", () => send("undo"));
$("sort").addEventListener("click", changeOrder);

function changeOrder() {
  const places = placesOfCards();
  setOrder(ORDERS[(ORDERS.indexOf(order) + 1) % ORDERS.length]);
  renderTable();
  if (!still.matches) animate(places, null, null);
}

async function showHint() {
  const { version } = game;
  const box = $("hint-content");
  if (game.table.end || game.table.waits_for_bot) { box.replaceChildren(make("p", {}, "A hint comes when it is your turn.")); return; }
  if (hint) return;
  box.replaceChildren(make("p", { class: "thinking" }, "The moves are played out …"));
  const { answer } = await ask("hint");
  if (game.version !== version || !notes.open.has("hint")) return;
  if (answer.error) { box.replaceChildren(make("p", {}, answer.error)); return; }
  hint = answer;
  box.replaceChildren(
    make("p", {}, make("strong", {}, coloured(answer.text[0].toUpperCase() + answer.text.slice(1))), "."),
    ...comparison(answer),
  );
  $("live").textContent = sentence(`Hint: ${answer.text}. ${answer.why}`);
  if (!game.table.end) { renderTable(); keepFocus(); }
}

async function showBelief() {
  const { version } = game;
  const box = $("belief-content");
  if (!box.querySelector("table")) box.replaceChildren(make("p", { class: "thinking" }, "The chances are worked out …"));
  const { answer } = await ask("belief");
  if (game.version !== version || !notes.open.has("belief")) return;
  if (answer.error) { box.replaceChildren(make("p", {}, answer.error)); return; }
  box.replaceChildren(beliefTable(answer),
    make("p", { class: "caption" }, `Per cent, from what you have seen${answer.rows[0].held ? "; framed: what was held" : ""}`));
}

// --- Keys -------------------------------------------------------------------------------------------------

const SHORTCUTS = {
  s: () => act("stock"), u: () => act("upcard"), p: () => act("pass"), d: playChosen, x: discardWithoutGin, k: knockNow, g: knockNow,
  n: () => { const button = $("actions").querySelector("button"); if (game.table.end && button) button.click(); },
  h: () => notes.toggle("hint"), b: () => notes.toggle("belief"), t: () => notes.toggle("turns"), c: () => notes.toggle("sheet"),
  o: changeOrder, m: openMenu, "?": openMenu,
  z: () => (game.practice ? send("undo") : say("Moves can be taken back only in a practice game: see the menu.")),
  Escape: () => notes.close(),
};

document.addEventListener("keydown", (event) => {
  if (!game || $("menu").open || event.ctrlKey || event.metaKey || event.altKey || !$("loading").hidden) return;
  const list = [...$("hand").children];
  const number = KEYS.indexOf(event.key);
  if (!game.table.end && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
    const here = list.findIndex((element) => element.dataset.card === focused);
    const inside = document.activeElement && document.activeElement.closest("#hand");
    list[(here + (inside ? (event.key === "ArrowLeft" ? -1 : 1) : 0) + list.length) % list.length].focus();
    event.preventDefault();
  } else if (number >= 0 && !game.table.end && list[number]) {
    list[number].focus();
    if (selected !== list[number].dataset.card) choose(list[number].dataset.card);
  } else {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const todo = SHORTCUTS[key];
    if (todo) { todo(); event.preventDefault(); }
  }
});

start();
