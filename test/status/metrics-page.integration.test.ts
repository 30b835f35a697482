import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { metricsToken } from '../../src/status/tokens.ts';
import { createMetrics } from '../../src/status/metrics/metrics.ts';
import { createPageAccess } from '../../src/status/page/access.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { idleDaemon } from './page/idle-daemon.ts';
import { measuredDaemon } from './measured-daemon.ts';
import { servedPage } from './page/served-page.ts';

const asked: RequestInit[] = [
  { headers: { authorization: 'Bearer the-metrics-token' } },
  { headers: { authorization: 'Bearer the-page-token' } },
];

async function serve() {
  const { daemon, state } = measuredDaemon();
  const page = await servedPage({
    daemon: idleDaemon(),
    access: createPageAccess('the-page-token'),
    metrics: { ...createMetrics(daemon, { version: '1', node: '26' }), token: 'the-metrics-token' },
  });
  return {
    state,
    get: (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${page.port}${path}`, init),
    page,
  };
}

test.each(asked)('/metrics answers in the text format to a program with the token %#', async (init) => {
  const { get, page } = await serve();
  await using _ = page;
  const answer = await get('/metrics', init);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(await answer.text()).toContain('\ndropcast_files{state="queued"} 0\n');
});

test('a program that asks for OpenMetrics first gets the text format, which it takes too', async () => {
  const { get, page } = await serve();
  await using _ = page;
  const accept = 'application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
  const answer = await get('/metrics', { headers: { authorization: 'Bearer the-metrics-token', accept } });
  expect(answer.headers.get('content-type')).toContain('version=0.0.4');
});

test('HEAD has the same head and no body; nothing else is allowed', async () => {
  const { get, page } = await serve();
  await using _ = page;
  const head = await get('/metrics', { ...asked[0], method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect((await get('/metrics', { ...asked[0], method: 'POST' })).status).toBeGreaterThanOrEqual(403);
});

test.each([{}, { authorization: 'Bearer nothing' }, { authorization: 'Bearer ' }, { authorization: 'Basic eDp5' }])(
  'no one sees the numbers with %j',
  async (headers) => {
    const { get, page } = await serve();
    await using _ = page;
    const answer = await get('/metrics', { headers });
    expect(answer.status).toBe(401);
    expect(await answer.text()).not.toContain('dropcast_');
  },
);

test.each(['/', '/status.json', '/open'])('the token of the numbers does not open %s', async (path) => {
  const { get, page } = await serve();
  await using _ = page;
  expect((await get(path, asked[0])).status).toBe(401);
});

test('a ledger that cannot be read is a number, not an error', async () => {
  const { get, page, state } = await serve();
  await using _ = page;
  state.isLedgerBroken = true;
  const answer = await get('/metrics', asked[0]);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('\ndropcast_ledger_up 0\n');
});

test('its token is next to that of the page, differs from it, and stays', async () => {
  await using scratch = await scratchDirectory();
  const token = await metricsToken(scratch.path);
  expect((await readFile(join(scratch.path, 'metrics-token'), 'utf8')).trim()).toBe(token);
  expect(await metricsToken(scratch.path)).toBe(token);
});
