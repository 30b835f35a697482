import { describe, expect, test } from 'vitest';
import type { Arrival } from '../../src/intake/arrival.ts';
import { createIntake } from '../../src/intake/intake.ts';
import type { Intake } from '../../src/intake/intake.ts';
import { looksTheSame } from '../../src/pipeline/file/file-version.ts';
import { isGivenUp, stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { AlreadyKnownError } from '../../src/pipeline/file/ports.ts';
import { after as next, rowsOf as heldRows } from '../pipeline/held-rows.ts';
import { MemoryStore } from '../pipeline/memory-store.ts';
import { ready, someFacts, someVersion } from '../pipeline/some-facts.ts';
import { TestClock } from '../pipeline/test-clock.ts';
import { someArrival } from './some-arrival.ts';

/** As the ledger of a fleet: a version has one row at a path. Whoever looks waits until the other host has looked too. */
class SharedStore extends MemoryStore {
  #looks = 0;
  #bothLooked = Promise.withResolvers<void>();

  override async atPath(folder: string, path: string): Promise<Facts | null> {
    const found = await super.atPath(folder, path);
    if ((this.#looks += 1) === 2) this.#bothLooked.resolve();
    await this.#bothLooked.promise;
    return found;
  }

  override async insert(facts: Facts): Promise<void> {
    const isThere = this.all.some(
      (row) =>
        row.folder === facts.folder &&
        row.path === facts.path &&
        looksTheSame(row.version, facts.version) &&
        !isGivenUp(row),
    );
    if (isThere) throw new AlreadyKnownError(`${facts.path} has a row`);
    await super.insert(facts);
  }
}

let ids = 0;

function host(store: MemoryStore, paths: readonly string[]): Intake {
  const clock = new TestClock();
  const policy = { attempts: 3, retryAt: () => 0, now: () => clock.now() };
  return createIntake({
    store,
    rows: heldRows(store),
    clock,
    local: {
      checksums: async () => ({ ok: true, value: [] }),
      hash: async () => ({ ok: true, value: 'bb' }),
    },
    runner: {
      apply: async (id, event) => {
        const claim = await store.claim(id);
        if (claim === null) return 'busy';
        try {
          const changed = next(claim.facts, event, policy);
          if (JSON.stringify(changed) === JSON.stringify(claim.facts)) return 'ignored';
          await store.save(changed);
          return 'applied';
        } finally {
          await claim.release();
        }
      },
    },
    newId: () => `f_new${(ids += 1)}`,
    exists: async (_folder, path) => paths.includes(path),
  });
}

const newer = { ...someVersion, size: 6_000, mtimeNs: '9000', ctimeNs: '9000' };
const queued = someFacts();
const done = someFacts({ ...ready, sha256: 'aa', end: 'done', published: { feed_news: 1 }, disposal: 'kept' });

/** As the watcher does: what was busy is offered again. */
async function until(intake: Intake, file: Arrival): Promise<string> {
  for (;;) {
    const accepted = await intake.compare(file, new AbortController().signal);
    if (accepted !== 'busy') return accepted;
  }
}

describe('two hosts that watch one share', () => {
  test.each<[string, readonly Facts[], Arrival, readonly string[]]>([
    ['a new file', [], someArrival(), ['clip.mp4 queued']],
    [
      'a file that was overwritten',
      [queued],
      someArrival({ version: newer }),
      ['clip.mp4 superseded', 'clip.mp4 queued'],
    ],
    [
      'a file that was overwritten after it was done',
      [done],
      someArrival({ version: { ...newer, size: someVersion.size - 1 } }),
      ['clip.mp4 done', 'clip.mp4 queued'],
    ],
    [
      'a file that grew after it was done',
      [done],
      someArrival({ version: newer }),
      ['clip.mp4 superseded', 'clip.mp4 queued'],
    ],
    ['a renamed file', [queued], someArrival({ path: 'new.mp4' }), ['new.mp4 queued']],
    ['a file that is there again', [someFacts({ end: 'vanished' })], someArrival(), ['clip.mp4 queued']],
    ['a file that they know', [done], someArrival(), ['clip.mp4 done']],
    ['a file from before', [], someArrival({ leaving: 'ignore' }), ['clip.mp4 skipped']],
  ])('take in %s once when both see it at the same moment', async (_what, rows, file, expected) => {
    const store = new SharedStore(rows);
    const hosts = [host(store, [file.path]), host(store, [file.path])];
    await Promise.all(hosts.map((intake) => until(intake, file)));
    expect(store.all.map((facts) => `${facts.path} ${stateOf(facts)}`)).toEqual(expected);
  });

  test.each<[string, readonly Facts[], string]>([
    ['a file that was deleted', [queued], 'clip.mp4 vanished'],
    ['a file that was done', [done], 'clip.mp4 done'],
  ])('both miss %s, and its row says so once', async (_what, rows, expected) => {
    const store = new MemoryStore(rows);
    const hosts = [host(store, []), host(store, [])];
    for (const intake of hosts) await intake.gone('/inbox', 'clip.mp4');
    expect(store.all.map((facts) => `${facts.path} ${stateOf(facts)}`)).toEqual([expected]);
    expect(store.history.length).toBeLessThanOrEqual(1);
  });

  test('one puts a file away while the other sees it leave and appear: neither is news', async () => {
    const store = new MemoryStore([
      someFacts({ ...done, disposal: 'pending', afterReady: { kind: 'move', to: 'done' } }),
    ]);
    const other = host(store, ['done/clip.mp4']);
    const claim = await store.claim('f_1');
    // The move is done, its row not yet written.
    expect(await other.accept(someArrival({ path: 'done/clip.mp4' }))).toBe('busy');
    expect(await other.gone('/inbox', 'clip.mp4')).toBe('busy');
    await store.save({ ...store.row(), path: 'done/clip.mp4', disposal: 'moved' });
    await claim?.release();
    expect(await other.accept(someArrival({ path: 'done/clip.mp4' }))).toBe('known');
    expect(await other.gone('/inbox', 'clip.mp4')).toBe('ignored');
    expect(store.all).toHaveLength(1);
  });
});
