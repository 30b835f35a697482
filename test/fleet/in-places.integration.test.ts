import { expect, test } from 'vitest';
import { inPlaces } from '../../src/fleet/in-places.ts';
import { createPlaces } from '../../src/fleet/places.ts';
import type { SharedFolder } from '../../src/fleet/places.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { someFacts, someVersion } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

/** One ledger, seen by two hosts that share a folder under different paths. */
async function openFleet() {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const ledger = stack.use(await openLedger(scratch.file('state')));
  const seenBy = (host: string, shared: readonly SharedFolder[]): Ledger =>
    inPlaces(
      ledger,
      createPlaces(
        host,
        () => shared,
        (place) => `${place} is elsewhere`,
      ),
    );
  const moved = stack.move();
  return {
    ledger,
    one: seenBy('one', [{ folder: '/mnt/nas', place: 'nas:', device: '7' }]),
    two: seenBy('two', [{ folder: '/media/n', place: 'nas:', device: '8' }]),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

const at = (folder: string, id: string, other: Partial<Facts> = {}): Facts =>
  someFacts({ id, folder, path: `${id}.mp4`, ...other });
const isPlace = (folder: string): boolean => folder === 'nas:' || /^(?:one|two):\//u.test(folder);

test('two hosts see one row of a share, each under its own path and device', async () => {
  await using fleet = await openFleet();
  await fleet.one.insert(at('/mnt/nas', 'f_1', { version: { ...someVersion, dev: '7' } }));
  expect(await fleet.two.atPath('/media/n', 'f_1.mp4')).toMatchObject({ folder: '/media/n', version: { dev: '8' } });
  expect((await fleet.ledger.load('f_1'))?.folder).toBe('nas:');
  const row = await fleet.two.load('f_1');
  if (row === null) throw new Error('no row');
  await fleet.two.save({ ...row, why: 'seen' });
  expect(await fleet.one.load('f_1')).toMatchObject({ folder: '/mnt/nas', why: 'seen', version: { dev: '7' } });
});

test('the same path on two hosts is two folders', async () => {
  await using fleet = await openFleet();
  await fleet.one.insert(at('/srv/in', 'f_1'));
  expect(await fleet.two.atPath('/srv/in', 'f_1.mp4')).toBeNull();
  expect((await fleet.two.load('f_1'))?.folder).toBe('one:/srv/in');
});

test('files of another host with equal numbers are not those of this one', async () => {
  await using fleet = await openFleet();
  await fleet.one.insert(at('/srv/in', 'f_1'));
  expect(await fleet.two.atLocation(someVersion)).toBeNull();
  expect((await fleet.one.atLocation(someVersion))?.id).toBe('f_1');
  await fleet.one.insert(at('/mnt/nas', 'f_2'));
  expect((await fleet.two.atLocation(someVersion))?.id).toBe('f_2');
});

test('only files that this host can read come to its lanes, its put-away and its retention', async () => {
  await using fleet = await openFleet();
  const done = {
    end: 'done',
    endedAt: 5,
    uploadedAt: 1,
    readyAt: 2,
    published: { feed_news: 1 },
    videoId: 'v',
  } as const;
  for (const [folder, name] of [
    ['/srv/in', 'local'],
    ['/mnt/nas', 'nas'],
  ] as const) {
    await fleet.one.insert(at(folder, `f_${name}_queued`));
    await fleet.one.insert(at(folder, `f_${name}_pending`, { ...done, disposal: 'pending' }));
    await fleet.one.insert(at(folder, `f_${name}_waiting`, { ...done, disposal: 'waiting' }));
    const later = { kind: 'delete', later: { afterMs: 1, whenFull: 80 } } as const;
    await fleet.one.insert(at(folder, `f_${name}_later`, { ...done, disposal: 'later', afterReady: later }));
  }
  const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
  expect(idsOf(await fleet.two.heads('queued', 10, []))).toEqual(['f_nas_queued']);
  expect(idsOf(await fleet.one.heads('queued', 10, []))).toEqual(['f_local_queued', 'f_nas_queued']);
  // The first one of the ledger is not theirs: it must not hide the others.
  expect(idsOf(await fleet.two.rows({ group: 'to put away', limit: 1 }))).toEqual(['f_nas_pending']);
  expect(idsOf(await fleet.two.rows({ group: 'waiting for disk', limit: 1 }))).toEqual(['f_nas_waiting']);
  expect(idsOf(await fleet.one.rows({ group: 'waiting for disk', limit: 1 }))).toEqual(['f_nas_waiting']);
  const folders = ['/media/n', '/srv/in'];
  expect(idsOf(await fleet.two.rows({ group: 'expired', now: 10, folders, limit: 10 }))).toEqual(['f_nas_later']);
  const mark = { folder: '/media/n', whenFull: 80 };
  expect(await fleet.two.fullMarks(folders)).toEqual([mark]);
  expect(idsOf(await fleet.two.rows({ group: 'crowding', mark, limit: 10 }))).toEqual(['f_nas_later']);
});

test('what a person says of a share counts on every host, and what a host remembers of its directory on that one', async () => {
  await using fleet = await openFleet();
  const pause = { since: 1, until: null, by: 'kim' };
  await fleet.one.savePause({ folder: '/mnt/nas', ...pause }, null);
  await fleet.one.savePause({ folder: '/srv/in', ...pause }, null);
  expect(new Set((await fleet.two.pauses()).map(({ folder }) => folder))).toEqual(new Set(['/media/n', 'one:/srv/in']));
  await fleet.two.dropPause('/media/n', null);
  expect((await fleet.one.pauses()).map(({ folder }) => folder)).toEqual(['/srv/in']);
  await fleet.one.saveFirstStart('/mnt/nas', { askedNs: 1n, beganNs: 2n, isOver: true });
  expect((await fleet.two.firstStart('/media/n'))?.isOver).toBe(true);
  await fleet.one.roots.save('/mnt/nas', { identity: 'of one' });
  expect(await fleet.two.roots.load('/media/n')).toBeNull();
  expect(await fleet.one.roots.load('/mnt/nas')).toEqual({ identity: 'of one' });
});

test('a file is found by its path on this host, and by the name of its place', async () => {
  await using fleet = await openFleet();
  await fleet.one.insert(at('/mnt/nas', 'f_1', { path: 'sub/a.mp4' }));
  await fleet.one.insert(at('/srv/in', 'f_2', { path: 'b.mp4' }));
  const find = async (host: Ledger, name: string): Promise<string[]> => (await host.find(name)).map(({ id }) => id);
  expect(await find(fleet.two, '/media/n/sub/a.mp4')).toEqual(['f_1']);
  expect(await find(fleet.two, 'nas:/sub/a.mp4')).toEqual(['f_1']);
  expect(await find(fleet.two, '/mnt/nas/sub/a.mp4')).toEqual([]);
  expect(await find(fleet.two, 'one:/srv/in/b.mp4')).toEqual(['f_2']);
  expect(await find(fleet.one, '/srv/in/b.mp4')).toEqual(['f_2']);
  expect(await find(fleet.two, 'b.mp4')).toEqual(['f_2']);
  expect(await fleet.two.count({ text: '/media/n/sub' })).toBe(1);
  expect(await fleet.two.count({ text: 'one:/srv' })).toBe(1);
  expect(await fleet.two.count({ folder: '/media/n' })).toBe(1);
  const { folders } = await fleet.two.selection.facets({});
  expect(folders.map(({ value }) => value).toSorted()).toEqual(['/media/n', 'one:/srv/in']);
});

test('no call lets a path of one host into the ledger, nor the name of a place as a path out of it', async () => {
  await using fleet = await openFleet();
  await fleet.one.insert(at('/mnt/nas', 'f_1'));
  await fleet.two.insert(at('/srv/in', 'f_2'));
  const rows = await fleet.ledger.rows({ group: 'any', limit: 10 });
  expect(rows.map(({ folder }) => folder).every(isPlace)).toBe(true);
  const snapshot = await fleet.one.snapshot({ held: () => [], working: 10, needing: 10 });
  const lists = await Promise.all([
    fleet.one.rows({ group: 'any', limit: 10 }),
    fleet.one.lastStarts(10),
    fleet.one.lines([]),
    fleet.one.rows({ group: 'came in', folder: '/mnt/nas', since: 0 }),
    fleet.one.rows({ group: 'any', where: { ids: ['f_1', 'f_2'] } }),
    fleet.one.rows({ group: 'twins', of: (await fleet.one.load('f_1')) ?? someFacts(), passing: [] }),
  ]);
  const seen = [snapshot.working, ...lists].flat().map(({ folder }) => folder);
  expect(new Set(seen)).toEqual(new Set(['/mnt/nas', 'two:/srv/in']));
});

test('files that one host counted for an expectation of a share are counted on the other, whatever its path is there', async () => {
  await using fleet = await openFleet();
  await fleet.one.countFile(JSON.stringify(['/mnt/nas', '*.mp4', null]), 'f_1', 5);
  expect(await fleet.two.countedFiles(JSON.stringify(['/media/n', '*.mp4', null]), 0)).toEqual(['f_1']);
  await fleet.one.countFile(JSON.stringify(['/srv/in', '*.mp4', null]), 'f_2', 5);
  expect(await fleet.two.countedFiles(JSON.stringify(['/srv/in', '*.mp4', null]), 0)).toEqual([]);
});
