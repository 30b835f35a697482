import { STYLE } from '../../../packages/pages/src/assets/style.ts';
import type { Recording } from './recorder.ts';

/** Returns one document that loads nothing. The texts of the simulation are in its data, and none can end the script element. */
export function pageOf(recording: Recording): string {
  const title = `Seed ${recording.seed}, ${recording.isFleet ? 'a fleet' : 'one host'}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title} · dropcast playground</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<style>${STYLE}${ownStyle}</style></head><body><main>
<div class="heading"><h1>${title}</h1><span id="verdict" role="status"></span></div>
<section class="card controls" aria-label="Controls and hosts">
  <div class="row middle"><span id="clock" role="timer" aria-label="Simulated time"></span>
    <button id="play" class="main"></button><label>Speed<select id="speed"></select></label>
    <ul id="hosts" aria-label="Hosts"></ul></div>
  <label>Time<input type="range" id="scrubber" min="0" max="${recording.endsAt}" step="any"></label>
  <div id="ticks" aria-hidden="true"></div><p id="strike" class="badge bad"></p>
  <p class="muted">Space plays and pauses. ← and → move by a second; with Shift, to the previous or next fault.</p></section>
<section class="card"><h2>Files</h2><div id="lanes"></div></section>
<section class="card"><h2>Invariants</h2><ul id="lights"></ul></section>
<section class="card"><h2>Events</h2><ol id="events"></ol></section></main>
<script type="application/json" id="recording">${JSON.stringify(recording).replaceAll('<', '\\u003c')}</script>
<script>${script}</script></body></html>
`;
}

const ownStyle = `
body { display: block; } main { margin: auto; } .card { padding: 12px 16px; display: grid; gap: 10px; }
#clock { font: 600 24px ui-monospace, monospace; } @media (min-height: 600px) { .controls { position: sticky; top: 0; z-index: 1; } }
#strike { white-space: normal; justify-self: start; min-height: 20px; } #strike:empty { visibility: hidden; }
#scrubber { padding: 0; } #ticks { position: relative; height: 8px; margin: 0 8px; } #ticks i { position: absolute; width: 2px; height: 8px; background: var(--failed); }
ul, ol { list-style: none; display: grid; gap: 6px; } #hosts, #lanes ul { display: flex; flex-wrap: wrap; min-height: 24px; }
li { overflow-wrap: anywhere; } li .badge { margin-right: 8px; } #lanes ul { align-content: start; background: var(--sunken); border-radius: 8px; padding: 8px; }
#lanes, #lights { display: grid; gap: 8px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 270px), 1fr)); }
#lanes ul::before { content: attr(aria-label); font-weight: 600; width: 100%; }
#lights li { padding-left: 22px; } #lights li::before { content: '●' / 'Light: '; color: var(--ready); position: absolute; margin-left: -20px; }
#lights .broken, #lights .broken::before { color: var(--failed); font-weight: 600; }
#lanes li { background: var(--surface); border: 1px solid var(--line); border-radius: 6px; padding: 1px 7px; font-size: 12.5px; }
`;

/** The page shows a moment as a function of `now` alone, so that it can move back as well as forward. */
const script = String.raw`'use strict';
const get = (id) => document.getElementById(id);
const run = JSON.parse(get('recording').textContent);
let [now, before, isPlaying] = [0, 0, false];
const add = (parent, tag, own = {}) => parent.appendChild(Object.assign(document.createElement(tag), own));
const set = (element, textContent, className = element.className) => {
  if (element.textContent !== textContent || element.className !== className) Object.assign(element, { textContent, className });
};
const clockOf = (ms) => new Date(ms).toISOString().slice(11, 21);
const isPast = ({ at }) => at <= now;
const [good, busy, bad] = ['badge good', 'badge busy', 'badge bad'];
const kinds = { fault: bad, deed: 'badge notice', host: busy, running: good, starting: busy, killed: bad };
const faults = run.events.filter(({ kind }) => kind === 'fault');
const hosts = run.hosts.map((host) => ({ ...host, badge: add(get('hosts'), 'li') }));
const lights = run.lights.map((light) => ({ ...light, lamp: add(get('lights'), 'li') }));
const lanes = new Map(run.states.map((state) => [state, add(get('lanes'), 'ul', { ariaLabel: state })]));
const files = run.files.map((file) => ({ ...file, token: document.createElement('li') }));
for (const speed of [1, 4, 16, 64, 256]) add(get('speed'), 'option', { value: speed, textContent: speed + ' ×' });
get('speed').value = 16;
for (const { at } of faults) add(get('ticks'), 'i').style.left = (100 * at) / run.endsAt + '%';

function seek(to) {
  now = Math.max(0, Math.min(run.endsAt, to));
  if (now === run.endsAt) isPlaying = false;
  const past = run.events.filter(isPast);
  set(get('clock'), clockOf(now));
  set(get('play'), isPlaying ? 'Pause' : 'Play');
  Object.assign(get('scrubber'), { value: now, ariaValueText: clockOf(now) });
  for (const { name, moves, badge } of hosts) {
    const { state } = moves.findLast(isPast) ?? { state: 'off' };
    set(badge, name + ': ' + state, kinds[state] ?? 'badge');
  }
  for (const { name, moves, token } of files) place(token, name, moves.findLast(isPast));
  const broken = lights.filter(({ brokenAt }) => brokenAt !== null && brokenAt <= now);
  for (const { id, says, lamp } of lights) set(lamp, id + says, 'lit');
  for (const { id, says, lamp, found } of broken) set(lamp, 'Broken: ' + id + says + ': ' + found, 'broken');
  const verdict = broken.map(({ id }) => id + ' is broken').join(', ');
  set(get('verdict'), verdict || 'All invariants hold', verdict ? bad : good);
  const strike = past.findLast(({ kind, at }) => kind === 'fault' && now - at < 2000 + 500 * get('speed').value);
  set(get('strike'), strike?.text ?? '');
  get('events').replaceChildren();
  for (const { at, kind, text } of past.slice(-14).reverse())
    add(add(get('events'), 'li'), 'span', { textContent: clockOf(at) + ' ' + kind, className: kinds[kind] ?? 'badge' }).after(text);
}

function place(token, name, move) {
  if (move === undefined) return token.remove();
  set(token, name + (move.why === null ? '' : ': ' + move.why));
  if (token.parentElement === lanes.get(move.state)) return;
  const from = token.getBoundingClientRect();
  lanes.get(move.state).append(token);
  const to = token.getBoundingClientRect();
  if (!isPlaying || from.width === 0 || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  token.animate([{ translate: from.x - to.x + 'px ' + (from.y - to.y) + 'px' }, {}], { duration: 350, easing: 'ease-out' });
}

function play() {
  isPlaying = !isPlaying;
  seek(isPlaying && now === run.endsAt ? 0 : now);
}

function frame(time) {
  if (isPlaying) seek(now + (time - before) * get('speed').value);
  before = time;
  requestAnimationFrame(frame);
}

get('play').addEventListener('click', play);
get('scrubber').addEventListener('input', ({ target }) => seek(Number(target.value)));
document.addEventListener('keydown', (event) => {
  const { key, target, shiftKey, ctrlKey, metaKey, altKey } = event;
  if (target === get('speed') || ctrlKey || metaKey || altKey) return;
  if (key === ' ' && target !== get('play')) play();
  else if (key === 'ArrowRight') seek(shiftKey ? (faults.find(({ at }) => at > now)?.at ?? run.endsAt) : now + 1000);
  else if (key === 'ArrowLeft') seek(shiftKey ? (faults.findLast(({ at }) => at < now)?.at ?? 0) : now - 1000);
  else return;
  event.preventDefault();
});
seek(0);
frame(0);
`;
