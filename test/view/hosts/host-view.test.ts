import { describe, expect, test } from 'vitest';
import { fleetStatusOf, hostView } from '../../../src/view/hosts/host-view.ts';
import { fleetTroubles, hostWords } from '../../../src/view/hosts/host-words.ts';
import type { Host } from '../../../src/view/hosts/fleet-view.ts';
import type { FileSelection } from '../../../src/pipeline/file/selection.ts';
import { awayWhy, FakeFleet, noon, someHost, someUpload } from '../../fleet/fake-fleet.ts';

const minute = 60_000;
const work = [
  { id: 'f_1', upload: someUpload },
  { id: 'f_2', upload: null },
];
const doing = { slots: 4, places: [], work };
const draining = { since: noon - minute, by: 'ana' };
const counting = (files: number) => {
  const asked: FileSelection[] = [];
  const counts = async ({ where }: { where: FileSelection }) => (asked.push(where), [{ files, bytes: 0 }]) as never;
  return { asked, counts };
};

describe('what a host does', () => {
  test.each<[Partial<Host>, string, string]>([
    [{}, 'running', 'idle'],
    [{ doing }, 'running', '1 of 4 uploads, 1 other file under way'],
    [
      { doing, draining },
      'draining',
      'draining by ana since 11:59: 1 of 4 uploads, 1 other file under way to finish, nothing new starts',
    ],
    [{ draining }, 'drained', 'drained by ana since 11:59: nothing runs here'],
    [{ doing, isHeard: false, heardAt: noon - 4 * minute }, 'silent', 'silent: last heard 4 m ago'],
    [{ draining, isHeard: false, heardAt: noon - 4 * minute }, 'silent', 'silent: last heard 4 m ago'],
    [{ isStopped: true, heardAt: noon - 4 * minute }, 'stopped', 'stopped at 11:56'],
  ])('%j: %s', (host, state, words) => {
    const view = hostView(someHost('ingest1', host), 'ingest1');
    expect([view.state, hostWords(view, noon)]).toEqual([state, words]);
  });

  test('a silent one no longer does anything, whatever its row says', () => {
    const view = hostView(someHost('ingest2', { doing, isHeard: false }), 'ingest1');
    expect(view).toMatchObject({ uploads: 0, working: 0, bytes_per_second: null });
  });
});

describe('files that only one host can read', () => {
  const local = { ...doing, places: ['ingest2:/srv/in', 'nas1:/'], work: [] };
  test.each<[string, Partial<Host>, string[]]>([
    ['is silent', { isHeard: false }, ['ingest2:/srv/in']],
    ['is stopped', { isStopped: true }, ['ingest2:/srv/in']],
    ['is drained', { draining }, ['ingest2:/srv/in']],
    ['runs', {}, []],
  ])('wait for it while it %s; those of a share do not', async (_, host, folders) => {
    const fleet = new FakeFleet(
      someHost('ingest1', { doing: { ...doing, places: ['nas1:/'], work: [] } }),
      someHost('ingest2', { ...host, doing: local }),
    );
    const ledger = counting(12);
    const { hosts } = await fleetStatusOf(fleet, ledger);
    expect(hosts.map(({ waiting }) => waiting)).toEqual([0, 12 * folders.length]);
    expect(ledger.asked.map(({ folder }) => folder)).toEqual(folders);
  });

  test('those of a share wait as well when every host that has it is silent', async () => {
    const fleet = new FakeFleet(someHost('ingest1'), someHost('ingest2', { isHeard: false, doing: local }));
    const ledger = counting(3);
    expect((await fleetStatusOf(fleet, ledger)).hosts.map(({ waiting }) => waiting)).toEqual([0, 6]);
  });
});

describe('what is wrong with a fleet', () => {
  const troubles = async (...hosts: Host[]) =>
    fleetTroubles(await fleetStatusOf(new FakeFleet(...hosts), counting(12)), noon);
  const places = { ...doing, places: ['ingest2:/srv/in'], work: [] };
  test.each<[string, Host[], string[]]>([
    ['nothing', [someHost('a'), someHost('b')], []],
    [
      'a silent host with files of its own',
      [someHost('a'), someHost('b', { isHeard: false, heardAt: noon - 4 * minute, doing: places })],
      ['b was last heard 4 m ago, at 11:56. 12 files wait for it: no other working host can read their folders.'],
    ],
    [
      'a silent host whose work others do',
      [someHost('a'), someHost('b', { isHeard: false, heardAt: noon - 20_000 })],
      ['b was last heard 20 s ago, at 11:59. The other hosts take over its work.'],
    ],
    [
      'versions',
      [someHost('a'), someHost('b', { version: '0.4.0' }), someHost('c')],
      ['The hosts run different versions: 0.3.0 (a, c), 0.4.0 (b). That is fine during an upgrade; finish it.'],
    ],
    ['the version of one that is away', [someHost('a'), someHost('b', { version: '0.2.0', isStopped: true })], []],
    [
      'a clock',
      [someHost('a', { clockAheadMs: -29_999 }), someHost('b', { clockAheadMs: 600_000 })],
      ['The clock of b is 10 m ahead of that of PostgreSQL: the times that it writes are off by as much.'],
    ],
    [
      'files that wait for one that is drained',
      [someHost('a'), someHost('b', { draining, doing: places })],
      ['b is draining. 12 files wait for it: no other working host can read their folders.'],
    ],
  ])('%s', async (_, hosts, sentences) => {
    expect(await troubles(...hosts)).toEqual(sentences);
  });

  test('a database that does not answer comes first', async () => {
    const fleet = new FakeFleet(someHost('a'), someHost('b', { isHeard: false }));
    fleet.away = noon - minute;
    expect(fleetTroubles(await fleetStatusOf(fleet, counting(0)), noon)[0]).toBe(
      `${awayWhy}. Uploads in flight continue; everything else waits.`,
    );
  });
});
