import { expect, test } from 'vitest';
import { createNewsLines } from '../../../../src/daemon/news/lines.ts';
import type { News } from '../../../../src/daemon/news/news.ts';
import type { Daemon } from '../../../../src/daemon/daemon.ts';
import { events } from '../../../../src/status/page/views/events.ts';
import { someWorld } from '../some-world.ts';
import { wordsOf } from '../words-of.ts';

const now = new Date(2026, 10, 22, 14, 2, 11).getTime();

const some = (news: Partial<News>): News => ({
  level: 'info',
  type: 'file',
  file: null,
  folder: null,
  path: null,
  state: null,
  video_id: null,
  embed_url: null,
  feed_urls: null,
  text: 'Something happened',
  ...news,
});

const all: readonly News[] = [
  some({ type: 'arrival', file: 'f_1', folder: '/srv/in', path: 'news/a.mp4', state: 'queued', text: 'Arrived, 3 MB' }),
  some({ level: 'warn', type: 'folder', folder: '/mnt/nas', text: 'Scans only' }),
  some({
    level: 'error',
    type: 'failure',
    file: 'f_2',
    folder: '/srv/in',
    path: 'b\u202e.mp4',
    text: 'Refused: <b>title</b>',
  }),
  some({ type: 'resumed', text: 'Everything goes on' }),
];

async function show(query: Record<string, string> = {}, lines = all) {
  const news = createNewsLines({ now: () => now }, (error) => expect.unreachable(String(error)));
  for (const line of lines) news.add(line);
  const folders = [{ path: '/srv/in' }, { path: '/mnt/nas' }];
  const daemon = { news, config: () => ({ folders }) } as unknown as Daemon;
  return events(someWorld(daemon, { now }), { query: new URLSearchParams(query), part: () => '' });
}

const told = async (query: Record<string, string>): Promise<string[]> => {
  const words = await wordsOf(await show(query));
  return ['Arrived', 'Scans only', 'Refused', 'Everything'].filter((text) => words.includes(text));
};

test('the newest is first, with its time, level, place and words', async () => {
  const words = await wordsOf(await show());
  expect(words).toMatch(/Everything goes on .*Refused: <b>title<\/b> .*Scans only .*news\/a\.mp4 Arrived, 3 MB/);
  expect(words).toMatch(/14:02:11 error b\[U\+202E\]\.mp4 Refused/);
});

test.each<[Record<string, string>, string[]]>([
  [{}, ['Arrived', 'Scans only', 'Refused', 'Everything']],
  [{ level: 'warn' }, ['Scans only', 'Refused']],
  [{ level: 'error' }, ['Refused']],
  [{ type: 'folder' }, ['Scans only']],
  // What concerns everything concerns each folder.
  [{ folder: '/srv/in' }, ['Arrived', 'Refused', 'Everything']],
  [{ text: 'NEWS/A' }, ['Arrived']],
  [{ text: 'f_2', level: 'error' }, ['Refused']],
  [{ level: 'unheard of', type: '' }, ['Arrived', 'Scans only', 'Refused', 'Everything']],
])('asked for %j it shows these', async (query, texts) => {
  expect(await told(query)).toEqual(texts);
});

test('an event leads to its file', async () => {
  expect(String(await (await show()).body)).toContain('href="/files/f_1"');
});

test('says so when nothing happened, and when nothing matches', async () => {
  expect(await wordsOf(await show({}, []))).toContain('Nothing has happened yet');
  expect(await wordsOf(await show({ text: 'zzz' }))).toContain('None of the 4 remembered events matches');
});

test('of a thousand events a hundred are shown, and an address leads to all', async () => {
  const many = Array.from({ length: 1_000 }, (_, n) => some({ text: `number ${n}.` }));
  const rows = async (query: Record<string, string>) =>
    String(await (await show(query, many)).body).split('data-key="event-').length - 1;
  expect(await rows({})).toBe(100);
  expect(String(await (await show({}, many)).body)).toContain('href="?all=yes"');
  expect(await rows({ all: 'yes' })).toBe(1_000);
});

test('a filter that was chosen stays chosen, also when no event of it is left', async () => {
  expect(String(await (await show({ type: 'feed' })).body)).toMatch(/<option value="feed" selected\s*>/);
});
