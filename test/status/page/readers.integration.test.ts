import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createEventStream } from '../../../src/daemon/events.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { until } from '../../support/until.ts';
import { idleDaemon } from './idle-daemon.ts';
import { servedPage } from './served-page.ts';

const headers = { authorization: 'Bearer the-token', accept: 'text/html' };
const folder = { type: 'folder', folder: '/srv/in', state: 'frozen', why: 'it is away' } as const;

/** A page whose renderings are counted: each asks for the picture. */
async function somePage() {
  const events = createEventStream(silentLogger);
  let listeners = 0;
  let renderings = 0;
  const heard: Daemon['events'] = {
    listen: (listener) => {
      listeners += 1;
      const end = events.listen(listener);
      return () => {
        listeners -= 1;
        end();
      };
    },
  };
  const idle = idleDaemon();
  const daemon = {
    ...idle,
    events: heard,
    picture: Object.assign(
      async () => {
        renderings += 1;
        return idle.picture();
      },
      { wasBehind: () => false },
    ),
  } as Daemon;
  const page = await servedPage({ daemon });
  const url = (path: string) => `http://127.0.0.1:${page.port}${path}`;
  const read = async () => {
    const answer = await fetch(url('/live'), { headers });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    return {
      status: answer.status,
      next: async () => (await reader?.read())?.value,
      leave: async () => reader?.cancel(),
    };
  };
  return { page, events, url, read, listeners: () => listeners, renderings: () => renderings };
}

test('fifty readers hear of one event, look, and cost one rendering; the daemon has one listener for them', async () => {
  const { page, events, url, read, listeners, renderings } = await somePage();
  await using _ = page;
  const readers = await Promise.all(Array.from({ length: 50 }, read));
  for (const { next } of readers) expect(await next()).toBe('event: ready\ndata: \n\n');
  expect(listeners()).toBe(1);
  events.emit(folder);
  const told = await Promise.all(readers.map(({ next }) => next()));
  expect(new Set(told)).toEqual(new Set(['event: changes\ndata: folder\n\n']));
  const answers = await Promise.all(readers.map(() => fetch(url('/folders'), { headers })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(renderings()).toBeLessThanOrEqual(3);
  await Promise.all(answers.map((answer) => answer.text()));
});

test('a daemon that stops ends the streams at once, and waits for no reader', async () => {
  const { page, read, listeners } = await somePage();
  const { next } = await read();
  await next();
  const silent = connect(page.port, '127.0.0.1').on('error', () => undefined);
  await once(silent, 'connect');
  silent.write(`GET /live HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${headers.authorization}\r\n\r\n`);
  silent.pause();
  await page[Symbol.asyncDispose]();
  expect(await next().catch(() => undefined)).toBeUndefined();
  expect(listeners()).toBe(0);
  silent.destroy();
});

test('a hundred pages may be open; one more is refused, and monitoring still gets through', async () => {
  const { page, url, read, listeners } = await somePage();
  await using _ = page;
  const readers = await Promise.all(Array.from({ length: 100 }, read));
  for (const { next } of readers) await next();
  expect((await read()).status).toBe(503);
  expect((await fetch(url('/healthz'))).status).toBe(200);
  expect((await fetch(url('/folders'), { headers })).status).toBe(200);
  await Promise.all(readers.map(({ leave }) => leave()));
  await until('all have left', () => listeners() === 0);
  expect((await read()).status).toBe(200);
});

test('strangers, other names and other sites hear nothing', async () => {
  const { page, url } = await somePage();
  await using _ = page;
  const ask = async (own: Record<string, string>) => (await fetch(url('/live'), { headers: own })).status;
  expect(await ask({})).toBe(401);
  expect(await ask({ ...headers, origin: 'https://evil.example' })).toBe(403);
  expect(await ask({ ...headers, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).toBe(403);
});
