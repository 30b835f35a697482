import { cp, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Host } from '../../src/view/hosts/fleet-view.ts';
import { openFoundPlaces, sharedOf } from '../../src/fleet/found-places.ts';
import type { ConfiguredFolder, FoundPlaces } from '../../src/fleet/found-places.ts';
import { createPlaces } from '../../src/fleet/places.ts';
import type { Places } from '../../src/fleet/places.ts';
import { RootClaim } from '../../src/watch/root-claim.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

/** Hosts of one fleet, each with its folders, that hear of each other when somebody says so. */
class Members {
  readonly silent = new Set<string>();
  readonly #members = new Map<string, Member>();

  async join(name: string, stateDir: string, folders: readonly ConfiguredFolder[]): Promise<Member> {
    await mkdir(stateDir, { recursive: true });
    const found = await openFoundPlaces({
      self: name,
      stateDir,
      logger: silentLogger,
      folders: () => folders,
      ledger: () => 'fleet',
      known: () => this.#hosts(),
      changed: () => Promise.resolve(),
    });
    const shared = () =>
      sharedOf(folders, found.all()).map(({ path, place }) => ({ folder: path, place, device: null }));
    const places = createPlaces(
      name,
      shared,
      (place) => place,
      (folder) => found.whyUnproven(folder),
    );
    const member = { name, found, places, folders, stateDir };
    this.#members.set(name, member);
    onTestFinished(() => found[Symbol.asyncDispose]());
    return member;
  }

  /** As long as a question and its answer take. */
  async talk(): Promise<void> {
    for (let beat = 0; beat < 3; beat += 1) {
      for (const { name, found } of this.#members.values()) if (!this.silent.has(name)) await found.look();
    }
  }

  #hosts(): readonly Host[] {
    return [...this.#members.values()].map(({ name, found, places, folders }) => ({
      name,
      version: '1.0.0',
      schema: 4,
      startedAt: 0,
      heardAt: 0,
      isHeard: !this.silent.has(name),
      isStopped: false,
      clockAheadMs: null,
      draining: null,
      doing: { slots: 1, places: folders.map(({ path }) => places.placeOf(path)), work: [], proofs: found.words() },
    }));
  }
}

interface Member {
  readonly name: string;
  readonly found: FoundPlaces;
  readonly places: Places;
  readonly folders: readonly ConfiguredFolder[];
  readonly stateDir: string;
}

/** What its watcher is told of a folder. */
async function hold({ name, places, folders, stateDir }: Member, folder: string): Promise<string> {
  const fleet = { ...places, watched: () => folders.map(({ path }) => places.placeOf(path)) };
  // Hosts of their own do not see the locks of each other.
  await using claim = new RootClaim(
    folder,
    { ledger: 'fleet', stateDir, host: name, hostName: name, fleet },
    silentLogger,
  );
  const verdict = await claim.hold();
  return verdict.isSound ? 'ours' : verdict.why;
}

/** A folder that the first host watches under one path, and the second under another. */
async function twoPaths(share?: string) {
  const scratch = await scratchDirectory();
  onTestFinished(() => scratch[Symbol.asyncDispose]());
  const [mine, theirs] = [scratch.file('srv-in'), scratch.file('mnt-in')];
  await mkdir(mine);
  await symlink(mine, theirs);
  const members = new Members();
  const one = await members.join('one', scratch.file('one'), [{ path: mine, ...(share !== undefined && { share }) }]);
  expect(await hold(one, mine)).toBe('ours');
  const join = () => members.join('two', scratch.file('two'), [{ path: theirs }]);
  return { scratch, members, one, mine, theirs, join };
}

test.each([
  ['nas1', 'nas1:'],
  [undefined, 'one:'],
])(
  'a folder that two hosts see at different paths is one place when the living one sees what the other writes there (share %s)',
  async (share, start) => {
    const { members, one, mine, theirs, join } = await twoPaths(share);
    const two = await join();
    const place = share === undefined ? `${start}${mine}` : start;
    expect(await hold(two, theirs)).toContain(place);
    await members.talk();
    expect(await hold(two, theirs)).toBe('ours');
    expect(two.places.placeOf(theirs)).toBe(place);
    expect(one.places.placeOf(mine)).toBe(place);
    expect([one.places.isShared(mine), two.places.isShared(theirs)]).toEqual([true, true]);
    expect(await readdir(mine)).toEqual(['.dropcast']);
  },
);

test('a folder that was copied with its mark is not the place that the mark names', async () => {
  const { members, mine, theirs, join, one } = await twoPaths();
  await rm(theirs);
  await cp(mine, theirs, { recursive: true });
  const two = await join();
  await members.talk();
  expect(await hold(two, theirs)).toMatch(/one watches another folder as one:.*seems to be a copy.*remove/u);
  // Not even when the copy is made again and again, in both directions.
  await cp(theirs, mine, { recursive: true });
  await members.talk();
  expect(await hold(two, theirs)).toContain('seems to be a copy');
  expect([one.places.isShared(mine), two.places.isShared(theirs)]).toEqual([false, false]);
});

test('while no other host that watches the place runs, nothing is guessed, and once one runs it is proved', async () => {
  const { members, theirs, join, mine } = await twoPaths();
  members.silent.add('one');
  const two = await join();
  await members.talk();
  expect(await hold(two, theirs)).toMatch(/no other host that watches one:.* runs now.*declare the share/u);
  members.silent.clear();
  await members.talk();
  expect(await hold(two, theirs)).toBe('ours');
  expect(two.places.placeOf(theirs)).toBe(`one:${mine}`);
});

test('a proof outlasts a restart of either host, also while the other is gone or the share is not mounted', async () => {
  const { scratch, members, theirs, join, mine } = await twoPaths();
  await join();
  await members.talk();
  members.silent.add('one');
  const again = await join();
  expect(again.places.placeOf(theirs)).toBe(`one:${mine}`);
  expect(await hold(again, theirs)).toBe('ours');
  await rm(theirs);
  expect((await join()).places.placeOf(theirs)).toBe(`one:${mine}`);
  const renamed = await members.join('uno', scratch.file('one'), [{ path: mine }]);
  expect(renamed.places.placeOf(mine)).toBe(`one:${mine}`);
});

test('another folder at the path after a restart needs a proof of its own', async () => {
  const { members, theirs, join, mine } = await twoPaths();
  await join();
  await members.talk();
  await rm(theirs);
  await cp(mine, theirs, { recursive: true });
  const again = await join();
  await members.talk();
  expect(again.places.isShared(theirs)).toBe(false);
  expect(await hold(again, theirs)).toContain('seems to be a copy');
});
