import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { drain, hostsOf } from '../../src/daemon/commands/hosts.ts';
import { filesOf } from '../../src/view/files/files-view.ts';
import { until } from '../support/until.ts';
import { startFleet } from './running-fleet.ts';

const by = 'ana';
const stateOn = async ({ fleet }: Daemon, name: string): Promise<string | undefined> =>
  (await hostsOf(fleet, null)).hosts.find((host) => host.name === name)?.state;

test('a host that is drained while it has the turn gives it away, and its files to the others; it is so after a restart, until that is undone', async () => {
  await using fleet = await startFleet();
  const one = await fleet.start('one');
  await until('one has the turn', () => one.daemon.turn.signal() !== null);
  const two = await fleet.start('two');
  expect(await drain(two.daemon.fleet, { name: 'one', by })).toMatchObject({ ok: true });
  await until(
    'two has the turn',
    async () =>
      (await one.daemon.fleet?.hosts()) && two.daemon.turn.signal() !== null && one.daemon.turn.signal() === null,
  );
  for (const { daemon } of [one, two]) {
    expect(await stateOn(daemon, 'one')).toBe('drained');
    await until('its views say so', async () => {
      const { fleet: hosts } = await daemon.picture();
      return hosts?.hosts.find(({ name }) => name === 'one')?.state === 'drained';
    });
  }
  await fleet.drop(join(fleet.share, 'a.mp4'));
  await until('two brings it to its end', async () => (await two.daemon.ledger.totals('by state'))['done'] === 1);
  const { files } = await filesOf(two.daemon.ledger, two.daemon, { selection: {}, range: { limit: 9 } });
  expect(files).toMatchObject([{ host: 'two', state: 'done' }]);

  await one.stop();
  expect(await stateOn(two.daemon, 'one')).toBe('stopped');
  const again = await fleet.start('one');
  expect(await stateOn(again.daemon, 'one')).toBe('drained');
  await fleet.drop(join(again.inbox, 'own.mp4'));
  await until('its file waits for it, and says so', async () => {
    const { working } = await two.daemon.picture({ isFresh: true });
    return working[0]?.why === 'only one can read this folder, and it is draining';
  });
  expect((await again.daemon.ledger.find('own.mp4'))[0]?.intent).toBeNull();
  expect(await drain(two.daemon.fleet, { name: 'one', by, isUndone: true })).toMatchObject({
    ok: true,
    what: 'one accepts files again',
  });
  await until('it takes up its file', async () => (await two.daemon.ledger.totals('by state'))['done'] === 2);
});

test('a host that does not run is drained when it starts; an unknown one is refused; with the last one, no new work is taken', async () => {
  await using fleet = await startFleet();
  const one = await fleet.start('one');
  const two = await fleet.start('two');
  await two.stop();
  expect(await drain(one.daemon.fleet, { name: 'nobody', by })).toMatchObject({
    ok: false,
    what: 'no host is called nobody; the hosts are: one, two',
  });
  expect(await drain(one.daemon.fleet, { name: 'two', by })).toMatchObject({
    ok: true,
    what: 'two is stopped: it takes no new work when it runs again',
  });
  expect(await drain(one.daemon.fleet, { name: 'one', by })).toMatchObject({
    ok: true,
    what: 'one is drained: nothing runs there. No host takes files now: all files wait until a host is started or `dropcast hosts drain --undo` is run',
  });
  const again = await fleet.start('two');
  expect(await stateOn(again.daemon, 'two')).toBe('drained');
  await fleet.drop(join(fleet.share, 'a.mp4'));
  await until('it is known', async () => (await again.daemon.ledger.find('a.mp4')).length === 1);
  await until('no host has the turn', () => one.daemon.turn.signal() === null && again.daemon.turn.signal() === null);
  await one.daemon.fleet?.hosts();
  const { working, fleet: hosts } = await one.daemon.picture({ isFresh: true });
  expect(working).toMatchObject([
    { state: 'queued', why: 'no host takes files: all of them are draining, stopped or silent' },
  ]);
  expect(hosts?.hosts.map(({ state }) => state)).toEqual(['drained', 'drained']);
});
