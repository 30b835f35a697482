import { expect, test } from 'vitest';
import { controlRoutes } from '../../src/daemon/control/routes.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { createMetrics } from '../../src/status/metrics/metrics.ts';
import { measuredDaemon, valuesOf } from '../status/measured-daemon.ts';
import { idleDaemon } from '../status/page/idle-daemon.ts';
import { awayWhy, FakeFleet, someHost } from './fake-fleet.ts';

const since = new Date(2026, 10, 22, 14, 2).getTime();

function routes() {
  const fleet = new FakeFleet(someHost('a'), someHost('b'));
  const reload = async () => ({ ok: true, problems: [], config: '/etc/dropcast.yaml' });
  const daemon = Object.assign(idleDaemon(), { fleet }) as Daemon;
  const app = controlRoutes(daemon, { reload, pageLink: () => null, testNotifications: async () => [] });
  const post = async (path: string, body: object): Promise<readonly [number, string]> => {
    const answer = await app.request(path, { method: 'POST', body: JSON.stringify(body) });
    return [answer.status, await answer.text()];
  };
  return { fleet, post };
}

test.each([
  ['/retry', { names: ['f_1'] }],
  ['/ignore', { names: ['f_1'], by: 'ana' }],
  ['/reapply', { names: [] }],
  ['/publish', { feeds: ['feed_news'] }],
  ['/pause', { folders: [], until: null, by: 'ana' }],
  ['/resume', { folder: null, by: 'ana' }],
  ['/add', { path: '/srv/in/a.mp4' }],
  ['/adoption/confirm', {}],
  ['/suspects/dismiss', { names: ['all'] }],
  ['/hosts/drain', { name: 'b', by: 'ana' }],
  ['/hosts/forget', { name: 'b' }],
])('`%s` changes nothing while the database is away, and says so at once', async (path, body) => {
  const { fleet, post } = routes();
  fleet.away = since;
  const [status, text] = await post(path, body);
  expect(status).toBe(503);
  expect(text).toContain(`${awayWhy}. Nothing was changed`);
});

test('work without the database continues in the meantime', async () => {
  const { fleet, post } = routes();
  fleet.away = since;
  expect((await post('/reload', {}))[0]).toBe(200);
  expect((await post('/notify/test', { target: null }))[0]).toBe(200);
});

test('a host is drained through any other while the database answers', async () => {
  const { fleet, post } = routes();
  expect((await post('/hosts/drain', { name: 'b', by: 'ana' }))[0]).toBe(200);
  expect(fleet.known().map(({ draining }) => draining?.by)).toEqual([undefined, 'ana']);
});

test('numbers of files are unknown while the database is away, and those of the hosts are not', async () => {
  const fleet = new FakeFleet(someHost('a'));
  const { daemon, state } = measuredDaemon(fleet);
  state.counts = { queued: 4 };
  const metrics = createMetrics(daemon, { version: '1', node: '26' });
  const values = async () => valuesOf(await metrics.text());
  expect((await values()).get('dropcast_ledger_up')).toBe(1);
  fleet.away = since;
  const away = await values();
  expect([away.get('dropcast_ledger_up'), away.get('dropcast_files{state="queued"}')]).toEqual([0, Number.NaN]);
  expect(away.get('dropcast_hosts{host="a",version="0.3.0"}')).toBe(1);
});
