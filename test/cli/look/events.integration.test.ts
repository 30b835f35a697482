import { mkdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { events } from '../../../src/cli/look/events.ts';
import { readSocketPath } from '../../../src/config/paths.ts';
import { callDaemon } from '../../../src/daemon/control/client.ts';
import { createNewsLines } from '../../../src/daemon/news/lines.ts';
import type { NewsLine, NewsLines } from '../../../src/daemon/news/lines.ts';
import type { News } from '../../../src/daemon/news/news.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { fakeShell } from '../api/fake-shell.ts';
import { writeConfig } from '../../support/configuration.ts';
import { servedControl } from '../../daemon/served-control.ts';

const at = new Date(2026, 10, 22, 17, 8, 10).getTime();
const about = (path: string, other: Partial<News> = {}): News => ({
  level: 'info',
  type: 'arrival',
  file: 'f_1',
  folder: '/srv/in',
  path,
  state: 'queued',
  video_id: null,
  embed_url: null,
  feed_urls: null,
  text: 'Arrived, 5 kB',
  ...other,
});

/** A command's world: a configuration whose socket is that of a daemon that has nothing but news. */
async function desk() {
  const stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  mkdirSync(scratch.file('state'));
  const config = await writeConfig(scratch);
  const socket = scratch.file('state', 'dropcast.sock');
  const serve = async (startedAt: number): Promise<{ news: NewsLines; listeners(): number } & AsyncDisposable> => {
    const news = createNewsLines({ now: () => at }, (error) => expect.fail(String(error)));
    let listeners = 0;
    const counting: NewsLines = {
      ...news,
      listen: (listener) => {
        listeners += 1;
        const end = news.listen(listener);
        return () => {
          listeners -= 1;
          end();
        };
      },
    };
    const daemon = {
      ledger: {},
      news: counting,
      startedAt,
      config: () => ({ stateDir: scratch.file('state'), folders: [{ path: '/srv/in' }] }),
    };
    const server = stack.use(await servedControl(daemon, socket));
    return { news, listeners: () => listeners, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  };
  const begin = (options: Partial<Parameters<typeof events>[1]> = {}, shell = fakeShell({ env: { KEY: 'k' } })) => ({
    shell,
    done: events(shell, { config, level: 'info', lines: 50, ...options }),
  });
  const run = async (options: Partial<Parameters<typeof events>[1]> = {}) => {
    const { shell, done } = begin(options);
    await done;
    return shell.out.text;
  };
  return { socket, serve, begin, run, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const jsonLines = (text: string): readonly NewsLine[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as NewsLine);

test('events prints the last news, oldest first, with hostile names escaped', async () => {
  await using place = await desk();
  const { news } = await place.serve(1);
  for (const path of ['a.mp4', 'b.mp4', '\u001b[2J.mp4']) news.add(about(path));
  expect(await place.run({ lines: 2 })).toBe(
    '2026-11-22 17:08:10  info   srv/in/b.mp4: Arrived, 5 kB\n' +
      String.raw`2026-11-22 17:08:10  info   srv/in/\x1b[2J.mp4: Arrived, 5 kB` +
      '\n',
  );
  expect(jsonLines(await place.run({ json: true })).map(({ v, seq, path }) => [v, seq, path])).toEqual([
    [1, 1, 'a.mp4'],
    [1, 2, 'b.mp4'],
    [1, 3, '\u001b[2J.mp4'],
  ]);
});

test('events selects by level and folder, and says which folders there are', async () => {
  await using place = await desk();
  const { news } = await place.serve(1);
  news.add(about('news/a.mp4', { level: 'error' }));
  news.add(about('b.mp4', { level: 'warn' }));
  news.add(about('news/c.mp4'));
  news.add(about('', { folder: null, path: null, level: 'warn', text: 'Everything waits' }));
  const seen = async (options: object) => jsonLines(await place.run({ json: true, ...options })).map(({ seq }) => seq);
  expect(await seen({ level: 'warn' })).toEqual([1, 2, 4]);
  expect(await seen({ folder: '/srv/in/news' })).toEqual([1, 3, 4]);
  expect(await seen({ folder: '/srv/in', level: 'error' })).toEqual([1]);
  await expect(place.run({ folder: '/elsewhere' })).rejects.toThrow('the watched folders are: /srv/in');
});

test('without a daemon events ends with exit code 3', async () => {
  await using place = await desk();
  await expect(place.run({ follow: true })).rejects.toMatchObject({ exitCode: 3 });
});

test('events --follow continues across a restart of the daemon, says so, and ends at the first signal', async () => {
  await using place = await desk();
  const first = await place.serve(1);
  first.news.add(about('a.mp4'));
  const shell = fakeShell({ env: { KEY: 'k' } });
  const { done } = place.begin({ follow: true, json: true }, shell);
  await until('the first daemon is followed', () => first.listeners() === 1);
  first.news.add(about('b.mp4'));
  await until('its news arrived', () => jsonLines(shell.out.text).length === 2);
  await first[Symbol.asyncDispose]();
  await until('its end was noticed', () => shell.err.text.includes('waiting for it'));
  const second = await place.serve(2);
  second.news.add(about('c.mp4'));
  await until('news of the second arrived', () => jsonLines(shell.out.text).length === 3);
  expect(jsonLines(shell.out.text).map(({ seq, path }) => [seq, path])).toEqual([
    [1, 'a.mp4'],
    [2, 'b.mp4'],
    [1, 'c.mp4'],
  ]);
  expect(shell.err.text).toMatch(/closed the connection; waiting for it[^]*restarted/u);
  shell.stop();
  await done;
  await until('the second is left', () => second.listeners() === 0);
});

test('a reader that does not read misses lines, learns how many, and blocks no other read-only user', async () => {
  await using place = await desk();
  const { news, listeners } = await place.serve(1);
  const { request } = process.getBuiltinModule('node:http');
  const call = request({ socketPath: readSocketPath(place.socket), path: '/events?follow=1' }).end();
  const answer = await new Promise<IncomingMessage>((resolve) => call.on('response', resolve));
  await until('it is followed', () => listeners() === 1);
  // More than all buffers of the socket.
  for (let i = 0; i < 20_000; i += 1) {
    news.add(about(`${i}.mp4`, { text: 'x'.repeat(500) }));
    if (i % 100 === 0) await setImmediate();
  }
  expect(await callDaemon(readSocketPath(place.socket), 'GET', '/page')).toMatchObject({ link: null });
  const lines: NewsLine[] = [];
  let rest = '';
  answer.setEncoding('utf8').on('data', (part: string) => {
    const parts = (rest + part).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts.filter(Boolean).map((line) => JSON.parse(line) as NewsLine));
  });
  await until('what was left out is said', () => lines.some(({ type }) => type === 'missed'));
  const missed = lines.find(({ type }) => type === 'missed');
  expect(missed?.text).toMatch(/^\d+ lines were skipped/u);
  // The first is the head of the answer.
  const seen = lines.slice(1, lines.indexOf(missed as NewsLine)).length;
  expect(seen + (missed as unknown as { missed: number }).missed).toBe(missed?.seq);
  answer.on('error', () => undefined);
  call.destroy();
  await until('it is left', () => listeners() === 0);
});
