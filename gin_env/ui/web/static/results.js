// Results over time against each opponent, kept in this browser.

import { make, svg } from "./common.js";

const KEY = "gin-rummy-results";
const MOST = 3000;
const RECENT = 20;

function read() {
  try {
    const rows = JSON.parse(localStorage.getItem(KEY) || "[]");
    return Array.isArray(rows) ? rows : [];
  } catch { return []; }
}

/** Add a hand: {id, opponent, points, game}; `game` is the winner if the game ended with it. */
export function addResult(row) {
  const rows = read();
  if (rows.some((each) => each.id === row.id)) return;
  try { localStorage.setItem(KEY, JSON.stringify([...rows, row].slice(-MOST))); } catch { /* private mode */ }
}

/** Fill a box with the results against an opponent. */
export function showResults(box, opponent) {
  const rows = read().filter((row) => row.opponent === opponent);
  if (!rows.length) { box.replaceChildren(); return; }
  const count = (test) => rows.filter(test).length;
  const recent = rows.slice(-RECENT);
  const mean = recent.reduce((sum, row) => sum + row.points, 0) / recent.length;
  const signed = `${mean < 0 ? "−" : "+"}${Math.abs(mean).toFixed(1)}`;
  box.replaceChildren(make("h2", {}, `You and ${opponent}`),
    make("p", {}, `Games ${count((row) => row.game === 0)} : ${count((row) => row.game === 1)}, hands ${count((row) => row.points > 0)} : ${count((row) => row.points < 0)}. ` +
      `The last ${recent.length} hands: ${signed} points each.`),
    rows.length > 2 ? chart(rows) : "");
}

/** The points won so far, from hand to hand. */
function chart(rows) {
  const [width, height] = [300, 60];
  const sums = rows.reduce((all, row) => [...all, all[all.length - 1] + row.points], [0]);
  const [low, high] = [Math.min(...sums), Math.max(...sums)];
  const y = (value) => 4 + ((high - value) / Math.max(high - low, 1)) * (height - 8);
  const points = sums.map((value, index) => `${(4 + index * (width - 8) / (sums.length - 1)).toFixed(1)},${y(value).toFixed(1)}`);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", role: "img", "aria-label": `Points won in ${rows.length} hands: ${sums[sums.length - 1]}` },
    svg("line", { x1: 4, x2: width - 4, y1: y(0), y2: y(0), class: "half" }), svg("polyline", { points: points.join(" "), class: "line" }));
  return make("figure", {}, drawing, make("figcaption", { class: "caption" }, `Points won in ${rows.length} hands`));
}
