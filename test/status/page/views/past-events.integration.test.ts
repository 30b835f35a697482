import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Daemon } from '../../../../src/daemon/daemon.ts';
import { openLedger } from '../../../../src/ledger/ledger.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { events } from '../../../../src/status/page/views/events.ts';
import { someFacts } from '../../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../../support/scratch-directory.ts';
import { someWorld } from '../some-world.ts';
import { wordsOf } from '../words-of.ts';

const now = new Date(2026, 10, 22, 14, 2, 11).getTime();
const day = 86_400_000;
let scratch: ScratchDirectory;
let ledger: Ledger;

const line = (at: number, text: string, more: object = {}) => ({
  host: 'desk',
  at,
  line: { v: 1, at, level: 'info', type: 'folder', file: null, folder: '/in', path: null, state: null, text, ...more },
});

beforeAll(async () => {
  scratch = await scratchDirectory();
  ledger = await openLedger(scratch.file('state'));
  await ledger.keepEvents([
    line(now - 9 * day, 'nine days ago'),
    line(now - 2 * day, 'two days ago', { level: 'warn' }),
    ...Array.from({ length: 230 }, (_, n) => line(now - day + n, `number ${n}.`, { type: 'feed', folder: null })),
    line(now - 1_000, 'just now <img src=x onerror=alert(1)>\u202e', { folder: '/mnt' }),
  ]);
  await ledger.insert(
    someFacts({ id: 'f_1', folder: '/in', path: 'show/clip.mp4', end: 'held', why: 'no rule matches' }),
  );
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await scratch[Symbol.asyncDispose]();
});

async function show(query: Readonly<Record<string, string>>) {
  const config = () => ({ folders: [], ledger: null, hostName: 'desk' });
  // Nothing is in memory, as if the daemon had just been restarted.
  const daemon = { ledger, config, news: { since: () => [] } } as unknown as Daemon;
  const view = await events(someWorld(daemon, { now }), { query: new URLSearchParams(query), part: () => '' });
  const html = String(await view.body).replaceAll('&amp;', '&');
  return { html, words: await wordsOf(view), later: /href="\?([^"]*)">Later events/.exec(html)?.[1] ?? null };
}

test('events of earlier runs are found since a time, by kind, folder, level and words', async () => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, readonly string[]])[] = [
    [{ since: '30d', text: 'days ago' }, ['nine days', 'two days']],
    [{ since: '7d', type: 'folder' }, ['two days', 'just now']],
    [{ since: '7d', level: 'warn' }, ['two days']],
    [{ since: '7d', folder: '/in', type: 'folder' }, ['two days']],
    [{ since: '7d', type: 'feed' }, ['number 7.']],
  ];
  for (const [query, texts] of cases) {
    const { words } = await show(query);
    const told = ['nine days', 'two days', 'number 7.', 'just now'].filter((text) => words.includes(text));
    expect(told, JSON.stringify(query)).toEqual(texts);
  }
});

test('a file is found by its name, and leads to its page', async () => {
  const { html, words } = await show({ since: '100d', text: 'clip.mp4' });
  expect(words).toContain('show/clip.mp4');
  expect(html).toContain('href="/files/f_1"');
});

test('a page has a hundred, and links with the same filter lead to all of them, each once', async () => {
  const seen: string[] = [];
  let query: Readonly<Record<string, string>> = { since: '7d', type: 'feed' };
  for (let pages = 0; pages < 3; pages += 1) {
    const { words, later } = await show(query);
    seen.push(...(words.match(/number \d+\./g) ?? []));
    if (later === null) break;
    query = Object.fromEntries(new URLSearchParams(later));
    expect(query).toMatchObject({ since: '7d', type: 'feed' });
  }
  expect(seen).toEqual(Array.from({ length: 230 }, (_, n) => `number ${n}.`));
});

test('text from outside is text', async () => {
  const { html } = await show({ since: '1h' });
  expect(html).toContain('just now &lt;img src=x onerror=alert(1)&gt;[U+202E]');
});

test.each([{ since: 'when?<b>' }, { since: '7d', after: '1; DROP TABLE' }])(
  '%j is refused in a sentence',
  async (query) => {
    const { html, words } = await show(query);
    expect(html).toContain('role="alert"');
    expect(words).toMatch(/expected today|is not a cursor/);
  },
);
