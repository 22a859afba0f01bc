// Any position: what each bot would play, the best moves compared, and what the opponent may hold.

import { $, ask, beliefTable, card, coloured, comparison, failed, loadCards, make, panels, spoken } from "./common.js";

const RANKS = "A23456789TJQK";
const form = $("position");
const notes = panels(() => {});
const words = (name) => form.elements[name].value.trim().toUpperCase().split(/[\s,]+/).filter(Boolean);

/** All cards; those of the hand are raised, the upcard has a frame. */
function draw() {
  const [hand, upcard] = [words("hand"), words("upcard")[0]];
  const legend = $("mode");
  $("deck").replaceChildren(legend, ...[..."CHSD"].map((suit) => make("div", { class: "cards" }, ...[...RANKS].map((rank) => {
    const code = rank + suit;
    const state = hand.includes(code) ? "selected" : code === upcard ? "new" : "";
    return card(code, "button", { type: "button", class: state, "aria-pressed": state !== "", "aria-label": `${spoken(code)}${state === "new" ? ", the upcard" : state ? ", in your hand" : ""}`, onclick: () => toggle(code) });
  }))));
}

/** A tap takes a card into the hand, a second makes it the upcard, a third puts it back. */
function toggle(code) {
  const hand = words("hand");
  if (hand.includes(code)) {
    form.elements.hand.value = hand.filter((each) => each !== code).join(" ");
    form.elements.upcard.value = code;
  } else if (words("upcard")[0] === code) form.elements.upcard.value = "";
  else form.elements.hand.value = [...hand, code].join(" ");
  draw();
  $("deck").querySelector(`[data-card="${code}"]`).focus();
}

async function analyse() {
  $("said").textContent = "";
  const content = Object.fromEntries(["hand", "upcard", "scores", "history", "drew"].map((name) => [name, form.elements[name].value]));
  content.you_deal = form.elements.you_deal.checked;
  history.replaceState(null, "", `#${new URLSearchParams(Object.entries(content).filter(([, value]) => value))}`);
  $("answer").replaceChildren(make("p", { class: "thinking" }, "The moves are played out …"));
  try {
    const { status, answer } = await ask("analyse", content);
    if (status !== 200) { $("said").textContent = answer.error; $("answer").replaceChildren(); return; }
    $("answer").replaceChildren(make("p", {}, make("strong", {}, coloured(answer.text[0].toUpperCase() + answer.text.slice(1)), ".")), ...comparison(answer));
    $("bots").replaceChildren(make("h3", {}, "What the bots play"), make("ul", {}, ...answer.bots.map(({ text, bots }) => make("li", {}, coloured(text), `: ${bots.join(", ")}`))));
    $("belief").replaceChildren(make("h3", {}, "What they may hold, per cent"), beliefTable(answer.belief));
    if (!notes.open.has("answer") && matchMedia("(max-width: 1099px)").matches) notes.toggle("answer");
    $("live").textContent = `${answer.text}. ${answer.why}`;
  } catch (error) {
    failed(error, () => location.reload());
  }
}

form.addEventListener("submit", (event) => { event.preventDefault(); analyse(); });
form.addEventListener("input", draw);
form.addEventListener("reset", () => setTimeout(draw, 0));

await loadCards();
for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
  const field = form.elements[name];
  if (field && field.type === "checkbox") field.checked = value === "true";
  else if (field) field.value = value;
}
draw();
if (form.elements.hand.value) analyse();
