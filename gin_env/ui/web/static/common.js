// What both pages share: cards, groups of cards, score sheets, requests.

const RANKS = { A: "ace", J: "jack", Q: "queen", K: "king", T: "10" };
const SUITS = { C: "clubs", H: "hearts", S: "spades", D: "diamonds" };
const SYMBOLS = { C: "♣", H: "♥", S: "♠", D: "♦" };

export const $ = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

export const store = {
  get: (key) => { try { return sessionStorage.getItem(key); } catch { return null; } },
  set: (key, value) => { try { sessionStorage.setItem(key, value); } catch { /* private mode */ } },
};

/** POST to the server; returns {status, answer}. Throws if the server does not answer. */
export async function ask(name, content = {}) {
  const response = await fetch(`/api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Gin-Session": store.get("token") || "" },
    body: JSON.stringify(content),
  });
  return { status: response.status, answer: await response.json() };
}

/** Load the sheet of cards into the page. */
export async function loadCards() {
  const sheet = new DOMParser().parseFromString(await (await fetch("cards.svg")).text(), "image/svg+xml");
  const holder = document.importNode(sheet.documentElement, true);
  holder.setAttribute("class", "sheet");
  holder.setAttribute("aria-hidden", "true");
  document.body.append(holder);
}

export function spoken(code) {
  return `${RANKS[code[0]] || code[0]} of ${SUITS[code[1]]}`;
}

export function written(code) {
  return (code[0] === "T" ? "10" : code[0]) + SYMBOLS[code[1]];
}

/** A sentence with symbols of suits, in words for a screen reader. */
export function sentence(text) {
  return text.replace(/(10|[A2-9JQK])([♣♥♠♦])/g, (_, rank, symbol) => {
    const suit = Object.keys(SYMBOLS).find((key) => SYMBOLS[key] === symbol);
    return spoken((rank === "10" ? "T" : rank) + suit);
  }).replace(/−/g, " minus ");
}

/** A sentence with its cards in the colours of their suits. */
export function coloured(text) {
  const fragment = document.createDocumentFragment();
  for (const part of String(text).split(/((?:10|[A2-9JQK])[♣♥♠♦])/)) {
    const suit = Object.keys(SYMBOLS).find((key) => part.endsWith(SYMBOLS[key]) && part.length < 4);
    fragment.append(suit ? make("span", { class: `suit-${suit}`, role: "img", "aria-label": sentence(part) }, part) : part);
  }
  return fragment;
}

function drawing(symbol) {
  return svg("svg", { viewBox: "0 0 74 110", "aria-hidden": "true" }, svg("use", { href: `#${symbol}` }));
}

/** A card; `code` null is a closed card, "" an empty place. A tag "button" makes it one. */
export function card(code, tag = "span", attributes = {}) {
  const label = code ? spoken(code) : null;
  const base = { "data-card": code || null, "aria-label": label, role: tag === "span" && label ? "img" : null };
  const kind = `card ${attributes.class || ""}${code === "" ? " empty" : ""}`;
  const element = make(tag, { ...base, ...attributes, class: kind });
  if (code !== "") element.append(drawing(code || "back"));
  return element;
}

/** Groups of cards with their captions. */
export function groups(list, { marked = null, laidOff = [], isNew = null } = {}) {
  return list.map(({ cards, caption }) => make("div", { class: "group", role: "group", "aria-label": caption || "cards" },
    make("div", { class: "cards" }, ...cards.map((code) => card(code, "span", {
      class: [code === marked && "marked", laidOff.includes(code) && "laid-off", code === isNew && "new"].filter(Boolean).join(" "),
    }))),
    make("p", { class: `caption ${caption.startsWith("deadwood") ? "" : "meld"}` }, caption)));
}

export function pile(codes, most) {
  const shown = codes.slice(-most);
  return shown.length ? shown : [""];
}

export function scores(data, names, toMove = null) {
  const [own, other] = data.scores;
  for (const [id, name, points, player] of [["score-you", names[0], own, 0], ["score-opponent", names[1], other, 1]]) {
    $(id).querySelector(".name").textContent = name;
    $(id).querySelector(".name").title = name;
    $(id).querySelector("b").textContent = points;
    $(id).querySelector(".dealer").hidden = data.dealer !== player;
    $(id).classList.toggle("moving", player === toMove);
  }
  const [left, right] = document.querySelectorAll(".meter i");
  left.style.width = `${Math.min(50, 50 * own / data.target)}%`;
  right.style.width = `${Math.min(50, 50 * other / data.target)}%`;
  document.querySelector(".meter span").textContent = `to ${data.target}`;
}

export function scoreSheet(rows, names, link) {
  if (!rows.length) return [make("caption", {}, "No hand has ended yet.")];
  const head = ["", names[0], names[1], "", ""].map((text) => (text ? make("th", { scope: "col" }, text) : make("td")));
  return [make("tr", {}, ...head), ...rows.map((row) => make("tr", {},
    make("th", { scope: "row" }, row.hand),
    ...row.totals.map((total, player) => make("td", { class: row.winner === player ? "won" : "" },
      row.winner === player ? `${total} (+${row.points})` : total)),
    make("td", {}, row.outcome),
    make("td", {}, link(row.hand))))];
}

/** The moves of a hand; `lost` says for some turns what they lost. */
export function turnRows(turns, names, lost = new Map()) {
  if (!turns.length) return [make("caption", {}, "Nobody has acted yet.")];
  const head = ["", "took", "discarded"].map((text) => (text ? make("th", { scope: "col" }, text) : make("td")));
  return [make("tr", {}, ...head), ...turns.map((turn, index) => make("tr", { class: [turn.player === 0 && "own", lost.get(index) && "lost"].filter(Boolean).join(" "), title: lost.get(index) || null },
    make("th", { scope: "row" }, names[turn.player]), make("td", {}, coloured(turn.took)), make("td", {}, coloured(turn.discarded))))];
}

/** The panels: next to the table on wide screens, one at a time above it on narrow ones. */
export function panels(onChange = () => {}) {
  const aside = $("panels");
  document.addEventListener("keydown", () => document.documentElement.classList.add("typing"));
  document.addEventListener("pointerdown", () => document.documentElement.classList.remove("typing"));
  const wide = matchMedia("(min-width: 1100px)");
  const optional = new Set(["hint", "belief"]);
  const open = new Set();
  function show() {
    for (const section of aside.querySelectorAll("section")) {
      const name = section.dataset.panel;
      section.hidden = !(open.has(name) || (wide.matches && !optional.has(name)));
    }
    aside.classList.toggle("open", open.size > 0);
    for (const button of document.querySelectorAll("button[data-panel]")) button.setAttribute("aria-pressed", open.has(button.dataset.panel));
    onChange(open);
  }
  function toggle(name) {
    const wasOpen = open.has(name);
    if (!wide.matches) open.clear();
    if (wasOpen) open.delete(name); else open.add(name);
    show();
  }
  function close() { open.clear(); show(); }
  for (const button of document.querySelectorAll("button[data-panel]")) button.addEventListener("click", () => toggle(button.dataset.panel));
  $("close-panel").addEventListener("click", close);
  wide.addEventListener("change", close);
  show();
  return { toggle, close, open };
}

/** What the opponent may hold: a table of per cents by suit and rank; framed what was held. */
export function beliefTable({ rows }) {
  const head = make("tr", {}, make("td"), ...[..."A23456789", "10", ..."JQK"].map((rank) => make("th", { scope: "col" }, rank)));
  return make("table", { class: "heat" }, head, ...rows.map(({ suit, chances, held }) => make("tr", {},
    make("th", { scope: "row", class: `suit-${suit}`, "aria-label": SUITS[suit] }, SYMBOLS[suit]),
    ...chances.map((chance, rank) => heatCell(chance, held && held[rank])))));
}

function heatCell(chance, held) {
  const place = Math.sqrt(chance / 100);
  const mix = (a, b, share) => a.map((value, index) => Math.round(value + share * (b[index] - value)));
  const [cold, middle, hot] = [[0, 34, 78], [118, 117, 114], [254, 232, 56]];
  const colour = place < 0.5 ? mix(cold, middle, 2 * place) : mix(middle, hot, 2 * place - 1);
  const cell = make("td", { class: held ? "held" : "" }, chance === 0 ? "·" : chance === 100 ? "■" : chance);
  cell.style.background = `rgb(${colour})`;
  cell.style.color = 0.3 * colour[0] + 0.6 * colour[1] + 0.1 * colour[2] > 117 ? "#000" : "#fff";
  return cell;
}

/** The moves of a position compared, as a table with the reason below it. */
export function comparison({ moves, why }) {
  const heads = ["", "you win", "deadwood", "cards that help", "danger"];
  const head = make("tr", {}, ...heads.map((text) => (text ? make("th", { scope: "col" }, text) : make("td"))));
  const rows = moves.map((move) => make("tr", { class: [move.best && "own", move.played && "played"].filter(Boolean).join(" ") },
    make("th", { scope: "row" }, coloured(move.move.replace(/^discard /, "")), move.played ? make("small", {}, " played") : ""),
    make("td", {}, move.win), make("td", {}, move.deadwood), make("td", {}, move.helps),
    make("td", { class: move.danger && `danger ${move.danger}` }, move.danger)));
  return [make("table", { class: "values" }, head, ...rows), make("p", {}, coloured(why))];
}

export function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The chance to win from move to move; `marks` are indices of mistakes, `pick` is called with an index. */
export function curve(chances, marks = [], pick = null, here = null) {
  const [width, height] = [300, 96];
  const middle = (Math.min(...chances) + Math.max(...chances)) / 2;
  const span = Math.max(0.3, 1.2 * (Math.max(...chances) - Math.min(...chances)));
  const [low, high] = [Math.max(middle - span / 2, 0), Math.min(middle + span / 2, 1)];
  const x = (index) => 30 + (index * (width - 36)) / Math.max(chances.length - 1, 1);
  const y = (chance) => 6 + ((high - chance) / (high - low)) * (height - 12);
  const per = (chance) => `${Math.round(100 * chance)} %`;
  const said = `Chance to win: ${per(chances[0])} at the deal, ${per(chances[chances.length - 1])} at the end`;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", role: "img", "aria-label": said });
  const points = chances.map((chance, index) => `${x(index).toFixed(1)},${y(chance).toFixed(1)}`);
  for (const chance of new Set([low, high])) drawing.append(svg("text", { x: 0, y: y(chance) + 3 }, per(chance)));
  if (low <= 0.5 && high >= 0.5) drawing.append(svg("line", { x1: 30, x2: width - 6, y1: y(0.5), y2: y(0.5), class: "half" }));
  if (here !== null) drawing.append(svg("line", { x1: x(here), x2: x(here), y1: 2, y2: height - 2, class: "here" }));
  drawing.append(svg("polyline", { points: points.join(" "), class: "line" }));
  for (const index of marks) drawing.append(svg("circle", { cx: x(index), cy: y(chances[index]), r: 4, class: "mistake" }));
  if (pick) drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width * width;
    pick(Math.min(Math.max(Math.round(((share - 30) * (chances.length - 1)) / (width - 36)), 0), chances.length - 1));
  });
  return make("figure", {}, drawing, make("figcaption", { class: "caption" }, said + "."));
}

/** What cards and choices were worth, in a sentence. */
export function worth(one) {
  const many = `${one.mistakes} mistake${one.mistakes === 1 ? "" : "s"}`;
  const cards = one.cards === null ? "" : `Cards: ${one.cards} points. `;
  return `${cards}Choices: ${one.mistakes ? `${one.choices} points in ${many} of ${one.num_choices}` : "no mistake"}. Accuracy ${one.accuracy} %.`;
}

export function failed(error, again) {
  $("loading").hidden = false;
  $("loading-text").textContent = "The server does not answer";
  $("loading-detail").replaceChildren("Is gin-rummy still running? ", make("button", { class: "primary", onclick: again }, "Try again"));
  console.error(error);
}
