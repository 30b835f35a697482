import { describe, expect, test } from 'vitest';
import { untilDrained } from '../../../src/fleet/commands/hosts.ts';
import { drain, forget, hostsOf } from '../../../src/daemon/commands/hosts.ts';
import type { Host } from '../../../src/view/hosts/fleet-view.ts';
import { FakeFleet, noon, someHost, someUpload } from '../fake-fleet.ts';

const draining = { since: noon, by: 'ana' };
const busy = (uploads: number): Partial<Host> => ({
  draining,
  doing: {
    slots: 4,
    places: [],
    work: Array.from({ length: uploads }, (_, n) => ({ id: `f_${n}`, upload: someUpload })),
  },
});

describe('draining a host', () => {
  test.each<[Partial<Host>, string]>([
    [busy(2), 'b is draining: 2 files under way will be finished, nothing new starts'],
    [{}, 'b is drained: nothing runs there'],
    [{ isHeard: false }, 'b is silent: it takes no new work when it runs again'],
    [{ isStopped: true }, 'b is stopped: it takes no new work when it runs again'],
  ])('says what becomes of it: %j', async (host, what) => {
    const fleet = new FakeFleet(someHost('a'), someHost('b', host));
    expect(await drain(fleet, { name: 'b', by: 'ana' })).toMatchObject({ ok: true, what });
  });

  test('is undone, and refused where there is nothing to drain', async () => {
    const fleet = new FakeFleet(someHost('a'), someHost('b', { draining }));
    expect(await drain(fleet, { name: 'b', by: 'ana', isUndone: true })).toMatchObject({
      what: 'b accepts files again',
      host: { state: 'running' },
    });
    expect(await drain(fleet, { name: 'c', by: 'ana' })).toMatchObject({
      ok: false,
      what: 'no host is called c; the hosts are: a, b',
    });
    const alone = 'this is a single host: its ledger is in its state directory, and no other host shares it';
    expect(await drain(null, { name: 'c', by: 'ana' })).toMatchObject({ ok: false, what: alone });
    expect(await forget(null, { name: 'c' })).toMatchObject({ ok: false, what: alone });
    expect(await hostsOf(null, null)).toEqual({ v: 1, self: null, away_since: null, away: null, hosts: [] });
  });
});

test('a host is forgotten when it is gone, and not while it runs', async () => {
  const fleet = new FakeFleet(someHost('a'), someHost('b', { isHeard: false }));
  const answers = [];
  for (const name of ['a', 'b', 'b']) answers.push((await forget(fleet, { name })).what);
  expect(answers).toEqual([
    'a is running: stop it first; if it was killed, repeat this 15 s later',
    'b was removed from the list; it reappears as soon as it runs again',
    'no host is called b; the hosts are: a',
  ]);
});

describe('waiting for a host', () => {
  /** Each look finds what comes next. */
  const wait = async (...states: readonly (Partial<Host> | null)[]) => {
    const fleet = new FakeFleet(someHost('a'), someHost('b', busy(2)));
    const left = [...states];
    const said: string[] = [];
    const rest = async (): Promise<boolean> => {
      const next = left.shift();
      if (next === null) fleet.members = fleet.members.slice(0, 1);
      if (next !== null && next !== undefined) fleet.change('b', next);
      return next !== undefined;
    };
    const ask = { list: () => hostsOf(fleet, null) };
    const ended = await untilDrained('b', { ask, say: (words) => said.push(words), rest }).then(
      ({ state }) => state as string,
      (error: unknown) => String(error),
    );
    return { said, ended };
  };

  test('ends once nothing runs there, and says what changes in the meantime', async () => {
    expect(await wait(busy(2), busy(1), busy(0))).toEqual({
      said: [
        'b is draining: 2 files under way will be finished, nothing new starts',
        'b is draining: 1 file under way will be finished, nothing new starts',
        'b is drained: nothing runs there',
      ],
      ended: 'drained',
    });
  });

  test.each<[string, Partial<Host> | null | undefined, string]>([
    ['falls silent', { isHeard: false }, 'silent'],
    ['is stopped', { isStopped: true }, 'stopped'],
    ['accepts files again', { draining: null }, 'CommandError: b is no longer being drained: the drain was undone'],
    ['is forgotten', null, 'CommandError: b was forgotten in the meantime'],
    ['is not waited for', undefined, 'CommandError: b continues to drain, but this command no longer waits for it'],
  ])('ends when it %s', async (_, next, ended) => {
    expect((await wait(...(next === undefined ? [] : [next]))).ended).toBe(ended);
  });
});
