// A soft click for each card, off by default.

const KEY = "gin-rummy-sound";
let context = null;

const read = () => { try { return localStorage.getItem(KEY) === "on"; } catch { return false; } };
let on = read();

export const soundIsOn = () => on;

export function turnSound(wanted) {
  on = wanted;
  try { localStorage.setItem(KEY, on ? "on" : "off"); } catch { /* private mode */ }
}

export function click() {
  if (!on || !window.AudioContext) return;
  context = context || new AudioContext();
  const [tone, volume] = [context.createOscillator(), context.createGain()];
  tone.type = "triangle";
  tone.frequency.setValueAtTime(420, context.currentTime);
  tone.frequency.exponentialRampToValueAtTime(170, context.currentTime + 0.05);
  volume.gain.setValueAtTime(0.08, context.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.07);
  tone.connect(volume).connect(context.destination);
  tone.start();
  tone.stop(context.currentTime + 0.08);
}
