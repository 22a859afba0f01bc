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
  const sheet = new DOMParser().parseFromString(await (await fetch("/cards.svg")).text(), "image/svg+xml");
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
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  svg.setAttribute("viewBox", "0 0 74 110");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#${symbol}`);
  svg.append(use);
  return svg;
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
  const head = ["", names[0], names[1], "", ""].map((text) => make("th", { scope: "col" }, text));
  return [make("tr", {}, ...head), ...rows.map((row) => make("tr", {},
    make("th", { scope: "row" }, row.hand),
    ...row.totals.map((total, player) => make("td", { class: row.winner === player ? "won" : "" },
      row.winner === player ? `${total} (+${row.points})` : total)),
    make("td", {}, row.outcome),
    make("td", {}, link(row.hand))))];
}

export function turnRows(turns, names) {
  if (!turns.length) return [make("caption", {}, "Nobody has acted yet.")];
  const head = ["", "took", "discarded"].map((text) => make("th", { scope: "col" }, text));
  return [make("tr", {}, ...head), ...turns.map((turn) => make("tr", { class: turn.player === 0 ? "own" : "" },
    make("th", { scope: "row" }, names[turn.player]), make("td", {}, coloured(turn.took)), make("td", {}, coloured(turn.discarded))))];
}

/** The panels: next to the table on wide screens, one at a time above it on narrow ones. */
export function panels(onChange = () => {}) {
  const aside = $("panels");
  document.addEventListener("keydown", () => document.documentElement.classList.add("typing"));
  document.addEventListener("pointerdown", () => document.documentElement.classList.remove("typing"));
  const wide = matchMedia("(min-width: 900px)");
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

export function failed(error, again) {
  $("loading").hidden = false;
  $("loading-text").textContent = "The server does not answer";
  $("loading-detail").replaceChildren("Is gin-rummy still running? ", make("button", { class: "primary", onclick: again }, "Try again"));
  console.error(error);
}
