/**
 * Keeps an open view up to date; the page works without it. The script fetches the same address again and changes only
 * what differs, so that focus, selection, scroll position, open details, half-filled forms and running players stay as
 * they are.
 */
export const LIVE_SCRIPT = String.raw`(() => {
'use strict';
const view = () => document.querySelector('main[data-changes-with]');
if (!view()) return;
const banner = document.getElementById('connection');
const RETRY_MS = 2000;
const AT_LEAST_EVERY_MS = 30000; // times that pass without an event: the clock, what is left of a fault
const SILENT_MS = 20000; // the server says something every 15 s
let source = null;
let heardAt = 0;
let shownAt = new Date();
let isOver = false; // what the view showed no longer exists
let isAsking = false;
let mustAskAgain = false;

const say = (text) => {
  if (banner.textContent !== text) banner.textContent = text;
};

function listen() {
  if (source !== null || document.hidden || isOver) return;
  source = new EventSource(view().dataset.live);
  heardAt = Date.now();
  source.addEventListener('ready', () => {
    heardAt = Date.now();
    say('');
    refresh(); // what happened since the page was made
  });
  source.addEventListener('ping', () => {
    heardAt = Date.now();
  });
  source.addEventListener('changes', ({ data }) => {
    heardAt = Date.now();
    const wanted = view().dataset.changesWith.split(' ');
    if (data.split(' ').some((type) => wanted.includes(type))) refresh();
  });
  source.addEventListener('error', lose);
}

function lose() {
  stop();
  say('Connection lost: data from ' + shownAt.toTimeString().slice(0, 8) + '. Retrying…');
  setTimeout(askThenListen, RETRY_MS);
}

function stop() {
  if (source !== null) source.close();
  source = null;
}

async function askThenListen() {
  if ((await refresh()) !== 'signed out') listen();
}

// A view that is read from the top stays at what it began with, and counts what is newer.
const addressOf = () => document.querySelector('[data-live-address]:not([data-live-address=""])')?.dataset.liveAddress ?? location.href;

async function refresh() {
  if (document.hidden || isOver) return 'not now';
  mustAskAgain = isAsking;
  if (isAsking) return 'asking';
  isAsking = true;
  try {
    const answer = await fetch(addressOf(), { headers: { Accept: 'text/html' }, redirect: 'error' });
    if (answer.status === 401) {
      stop();
      say(view().dataset.signedOut);
      return 'signed out';
    }
    if (answer.status < 500) show(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    return 'shown';
  } catch {
    return 'lost';
  } finally {
    isAsking = false;
    if (mustAskAgain) refresh();
  }
}

function show(fresh) {
  shownAt = new Date();
  document.title = fresh.title;
  if (fresh.querySelector('main[data-changes-with]')) {
    become(document.body, fresh.body);
    return;
  }
  isOver = true;
  stop();
  view().replaceWith(fresh.querySelector('main'));
}

// Makes the element the same as the fresh one with as few changes as possible.
function become(element, fresh) {
  if (element === banner || element.isEqualNode(fresh)) return;
  for (const { name } of [...element.attributes])
    if (!fresh.hasAttribute(name) && !isOfTheReader(element, name)) element.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (element.getAttribute(name) !== value && !isOfTheReader(element, name)) element.setAttribute(name, value);
  becomeChildren(element, [...fresh.childNodes]);
}

const isOfTheReader = (element, name) => name === 'open' && element.localName === 'details';
const keyOf = (node) => (node.dataset && node.dataset.key) || node.id || '';
const isKept = (node) => node.nodeType === Node.ELEMENT_NODE && node.hasAttribute('data-keep');
const isAlike = (node, fresh) =>
  node.nodeType === fresh.nodeType && node.nodeName === fresh.nodeName && keyOf(node) === keyOf(fresh);

function becomeChildren(parent, freshNodes) {
  const wanted = new Set(freshNodes.map(keyOf));
  for (const node of [...parent.childNodes]) if (!wanted.has(keyOf(node)) && !isKept(node)) node.remove();
  let next = parent.firstChild;
  const remove = (node) => {
    next = node.nextSibling;
    node.remove();
  };
  for (const fresh of freshNodes) {
    while (next !== null && isKept(next) && !isAlike(next, fresh)) next = next.nextSibling;
    const same = partnerOf(fresh, next);
    // Not by moving the partner here: a frame that moves reloads.
    while (same !== null && next !== same && keyOf(next) === '' && !isKept(next)) remove(next);
    if (same === null) parent.insertBefore(asNew(fresh), next);
    else if (same === next) next = next.nextSibling;
    else parent.insertBefore(same, next);
    if (same === null) continue;
    if (same.nodeType === Node.ELEMENT_NODE) become(same, fresh);
    else if (same.data !== fresh.data) same.data = fresh.data;
  }
  while (next !== null) {
    if (isKept(next)) next = next.nextSibling;
    else remove(next);
  }
}

// The existing node to update: the next one if alike, else the one with the same key. Nodes without a key have no
// identity.
function partnerOf(fresh, next) {
  if (next !== null && isAlike(next, fresh)) return next;
  if (keyOf(fresh) === '') return null;
  for (let node = next; node !== null; node = node.nextSibling) if (isAlike(node, fresh)) return node;
  return null;
}

function asNew(fresh) {
  if (fresh.localName === 'tr') fresh.classList.add('fresh');
  return fresh;
}

document.addEventListener('change', ({ target }) => {
  const { ticks } = target.dataset;
  if (ticks === undefined) return;
  for (const box of target.form.elements) if (box.type === 'checkbox' && box.name === ticks) box.checked = target.checked;
});

document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, textarea, select') !== null || event.ctrlKey || event.metaKey || event.altKey;
  const field = document.querySelector('input[type=search]');
  if (event.key !== '/' || isTyping || field === null) return;
  event.preventDefault();
  field.focus();
});
document.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-copy]');
  if (button === null) return;
  navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent).then(
    () => (button.textContent = 'Copied'),
    () => (button.textContent = 'Select the text and copy it'),
  );
});
document.addEventListener('visibilitychange', () => (document.hidden ? stop() : listen()));
addEventListener('pagehide', stop);
addEventListener('pageshow', ({ persisted }) => persisted && listen());
setInterval(askThenListen, AT_LEAST_EVERY_MS);
setInterval(() => source !== null && Date.now() - heardAt > SILENT_MS && lose(), 5000);
listen();
})();
`;
