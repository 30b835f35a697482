/** Runs while a video is not ready, and reloads the page once the video is ready or failed. */
export const WAITING_SCRIPT = String.raw`
setInterval(async () => {
  const answer = await fetch(location.href).catch(() => null);
  if (answer !== null && !(await answer.text()).includes('id="waiting"')) location.reload();
}, 5000);
`;

/**
 * Runs on the embed page. Counts the seconds actually played, from the steps between `timeupdate` events without seeks,
 * and reports them. A 404 or 410 response means that the play no longer exists. If its video is gone too, the page
 * shows that; if only the play is gone, as after a reset, the next start opens a new one. Neither reads nor stores
 * anything about the viewer.
 */
export const PLAYER_SCRIPT = String.raw`(() => {
'use strict';
const player = document.querySelector('[data-plays]');
const REPORT_EVERY_S = 5;
const LONGEST_STEP_S = 5; // a longer one is a gap in the events, not something watched
let playAddress = null;
let opening = false;
let lastS = null;
let watchedS = 0;
let reportedS = 0;

const send = (address, body) =>
  fetch(address, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
const progress = () => ({ watched_seconds: watchedS, ended: player.ended });
const isGone = (answer) => answer.status === 404 || answer.status === 410;

async function open() {
  if (opening) return;
  opening = true;
  try {
    const answer = await send(player.dataset.plays, {});
    if (isGone(answer)) await checkVideo();
    if (!answer.ok) return;
    playAddress = player.dataset.plays + '/' + (await answer.json()).play_id;
    if (player.paused) report(); // it stopped before the address of its play was known
  } catch {
    // The service does not answer: the next start tries again.
  } finally {
    opening = false;
  }
}

async function report() {
  if (playAddress === null) return;
  reportedS = watchedS;
  try {
    if (isGone(await send(playAddress, progress()))) await checkVideo();
  } catch {
    // The next report says everything that this one would have said.
  }
}

async function checkVideo() {
  playAddress = null;
  watchedS = reportedS = 0;
  const page = await fetch(location.href, { method: 'HEAD' });
  if (isGone(page)) location.reload();
}

player.addEventListener('playing', () => {
  document.body.dataset.state = 'playing';
  lastS = player.currentTime;
  if (playAddress === null) open();
  else report();
});
player.addEventListener('timeupdate', () => {
  const stepS = lastS === null || player.seeking ? 0 : player.currentTime - lastS;
  lastS = player.seeking ? null : player.currentTime;
  if (stepS > 0 && stepS < LONGEST_STEP_S) watchedS += stepS;
  if (watchedS - reportedS >= REPORT_EVERY_S) report();
});
player.addEventListener('seeking', () => {
  lastS = null;
});
player.addEventListener('pause', () => { // at the end too
  document.body.dataset.state = 'paused';
  report();
});
player.addEventListener('error', async () => {
  player.controls = false; // they would show a spinner forever
  document.getElementById('unplayable').hidden = false;
  await checkVideo().catch(() => {});
});

// The page may end without another chance; hidden pages of phones often do.
const sayGoodbye = () => {
  if (playAddress === null || watchedS === reportedS) return;
  const body = new Blob([JSON.stringify(progress())], { type: 'application/json' });
  if (navigator.sendBeacon(playAddress, body)) reportedS = watchedS;
};
addEventListener('pagehide', sayGoodbye);
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') sayGoodbye();
});

if (player.dataset.controls === 'off') {
  const toggle = () => (player.paused ? player.play().catch(() => {}) : player.pause());
  player.controls = false;
  player.tabIndex = 0;
  player.addEventListener('click', toggle);
  player.addEventListener('keydown', (event) => {
    if (event.key !== ' ' && event.key !== 'Enter') return;
    event.preventDefault();
    toggle();
  });
}
})();`;
