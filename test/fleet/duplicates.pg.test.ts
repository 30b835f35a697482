import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { startFleet } from './running-fleet.ts';
import type { FleetMember, RunningFleet } from './running-fleet.ts';

/** Uploads of videos with these titles are held until somebody lets them go. */
const held = new Map<string, PromiseWithResolvers<void>>();

let fleet: RunningFleet;
let one: FleetMember;
let two: FleetMember;

beforeAll(async () => {
  fleet = await startFleet({
    meddleUpload: async (_request, _response, id) => {
      await held.get(fleet.service.videos.get(id)?.title ?? '')?.promise;
      return false;
    },
  });
  [one, two] = await Promise.all([fleet.start('one'), fleet.start('two')]);
});

afterAll(() => fleet[Symbol.asyncDispose]());

/** Another size for each test: files of equal size are compared. */
let sizes = 1_000;
const anySize = (): number => (sizes += 1);
const bytes = (size: number, of = 'a'): string => of.repeat(size);

interface Row {
  readonly path: string;
  readonly state: string;
  readonly code: string | null;
}

async function rowsOf(size: number): Promise<readonly Row[]> {
  const rows = await fleet.ask('select path, state, code from dropcast.file where size = $1 order by seq', [size]);
  return rows as unknown as readonly Row[];
}

/** Waits until so many files of a size have ended. */
function ended(size: number, count: number): Promise<readonly Row[]> {
  return until(`${count} files have ended`, async () => {
    await hurry();
    const rows = await rowsOf(size);
    return rows.filter(({ state }) => ['done', 'skipped', 'failed'].includes(state)).length === count ? rows : null;
  });
}

/** What waits for another file looks again now, and not by chance within 20 s. */
async function hurry(): Promise<void> {
  await fleet.ask(`update dropcast.file set not_before = 0 where not_before > 0 and code = 'twin_under_way'`);
  for (const { daemon } of [one, two]) daemon.conductor.wake();
}

/** How often the service has got a content. */
function bodiesOf(content: string): number {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return [...fleet.service.videos.values()].flatMap(({ bodies }) => bodies).filter((body) => body === sha256).length;
}

const states = (rows: readonly Row[]): readonly string[] => rows.map(({ state }) => state).toSorted();

test.concurrent('the same content comes into the folders of two hosts at the same moment: one video', async () => {
  const size = anySize();
  await Promise.all([one, two].map(({ inbox }, n) => writeFile(join(inbox, `moment ${n}.mp4`), bytes(size))));
  expect(states(await ended(size, 2))).toEqual(['done', 'skipped']);
  expect(bodiesOf(bytes(size))).toBe(1);
});

test.concurrent('it comes to the second host when the first has uploaded it: one video', async () => {
  const size = anySize();
  await writeFile(join(one.inbox, 'before.mp4'), bytes(size));
  await ended(size, 1);
  await writeFile(join(two.inbox, 'after.mp4'), bytes(size));
  expect(await ended(size, 2)).toMatchObject([{ state: 'done' }, { state: 'skipped', path: 'after.mp4' }]);
  expect(bodiesOf(bytes(size))).toBe(1);
});

test.concurrent('it comes to the second host while the first uploads it: the second waits, and one video', async () => {
  const size = anySize();
  const upload = Promise.withResolvers<void>();
  held.set('slow', upload);
  await writeFile(join(one.inbox, 'slow.mp4'), bytes(size));
  await until('it is sent', () => [...fleet.service.videos.values()].some(({ title }) => title === 'slow'));
  await writeFile(join(two.inbox, 'waits.mp4'), bytes(size));
  await until('the second waits', async () => (await rowsOf(size)).some(({ code }) => code === 'twin_under_way'));
  upload.resolve();
  expect(await ended(size, 2)).toMatchObject([{ state: 'done' }, { state: 'skipped', path: 'waits.mp4' }]);
  expect(bodiesOf(bytes(size))).toBe(1);
});

test.concurrent('the video of the first cannot be processed: the second has its turn', async () => {
  const size = anySize();
  await writeFile(join(one.inbox, 'cannot be processed.mp4'), bytes(size));
  await until('it is known', async () => (await rowsOf(size)).length === 1);
  await writeFile(join(two.inbox, 'its turn.mp4'), bytes(size));
  // For a moment it may be a duplicate.
  await until('the second has its turn', async () => (await ended(size, 2))[1]?.state === 'done');
  expect(await rowsOf(size)).toMatchObject([{ state: 'failed' }, { state: 'done', path: 'its turn.mp4' }]);
});

test.concurrent('the same name with another content of the same size: two videos', async () => {
  const size = anySize();
  await Promise.all([
    writeFile(join(one.inbox, 'clip.mp4'), bytes(size, 'x')),
    writeFile(join(two.inbox, 'clip.mp4'), bytes(size, 'y')),
  ]);
  expect(states(await ended(size, 2))).toEqual(['done', 'done']);
  expect([bodiesOf(bytes(size, 'x')), bodiesOf(bytes(size, 'y'))]).toEqual([1, 1]);
});

test.concurrent('a file of a share that both watch is one file, and one video', async () => {
  const size = anySize();
  await writeFile(join(fleet.share, 'shared.mp4'), bytes(size));
  expect(await ended(size, 1)).toMatchObject([{ path: 'shared.mp4', state: 'done' }]);
  expect(bodiesOf(bytes(size))).toBe(1);
});

test.concurrent('the same content on the share and in the folder of one host: one video', async () => {
  const size = anySize();
  await Promise.all([fleet.share, two.inbox].map((folder) => writeFile(join(folder, 'both.mp4'), bytes(size))));
  expect(states(await ended(size, 2))).toEqual(['done', 'skipped']);
  expect(bodiesOf(bytes(size))).toBe(1);
});

test('the host of the first is gone: the second does not wait for it, and what was begun is finished', async () => {
  const size = anySize();
  held.set('gone', Promise.withResolvers());
  await writeFile(join(one.inbox, 'gone.mp4'), bytes(size));
  await until('it is sent', () => [...fleet.service.videos.values()].some(({ title }) => title === 'gone'));
  await one.die(20_000);
  held.get('gone')?.resolve();
  await writeFile(join(two.inbox, 'goes on.mp4'), bytes(size));
  // Its feed waits for the first one.
  await until('it is uploaded', async () => (await rowsOf(size)).some(({ state }) => state === 'awaiting publish'));
  one = await fleet.start('one');
  expect(await ended(size, 2)).toMatchObject([
    { path: 'gone.mp4', state: 'done' },
    { path: 'goes on.mp4', state: 'done' },
  ]);
});
