import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/ledger.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { createRows } from '../../src/pipeline/file/rows.ts';
import type { Row } from '../../src/pipeline/file/rows.ts';
import { Inventory } from '../../src/watch/inventory.ts';
import type { RootDoubt } from '../../src/watch/ports.ts';
import { VanishBreaker } from '../../src/watch/missing-files.ts';
import { ready, someFacts, someVersion } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { FakeClock } from '../watch/fake-clock.ts';

/** `SOAK_FILES=5000` is the long run. */
const files = Number(process.env['SOAK_FILES'] ?? 60);
const perSecond = 5;
const folder = '/inbox';

/** Changes of a row whose file was put away. */
const ends = {
  move: (path: string): Partial<Facts> => ({ path: `done/${path}`, disposal: 'moved' }),
  delete: (): Partial<Facts> => ({ disposal: 'deleted' }),
};

// In the time of a fake clock, with the real ledger: every file is missed once, while it is gone and its row does not say so yet.
test.each(['move', 'delete'] as const)(
  'files that come at 5 a second and are put away (%s), each under the eyes of a scan, freeze nothing',
  async (kind) => {
    await using scratch = await scratchDirectory();
    await using ledger = await openLedger(scratch.path);
    const rows = createRows({ store: ledger, events: { emit: () => undefined } });
    const clock = new FakeClock();
    const inventory = new Inventory();
    const state = { doubt: null as RootDoubt | null, freezes: 0 };
    const root = {
      get doubt() {
        return state.doubt;
      },
      suspect: async ({ before }: { readonly before: readonly string[] }) => {
        state.freezes += 1;
        state.doubt = { is: 'missing', before };
      },
      believe: async () => {
        state.doubt = null;
      },
    };
    const roots = {
      expected: (...asked: readonly [string, readonly string[], 'all' | 'unfinished' | 'also given up']) =>
        ledger.roots.expected(...asked, rows.held()),
    };
    const breaker = new VanishBreaker({ folder: { path: folder }, clock, inventory, root, roots });
    await breaker.believes([], true);
    const putAway = async (row: Row): Promise<void> => {
      const { path } = row.facts;
      // The disk is changed, the row is not.
      await breaker.believes([path], true);
      await row.write(ends[kind](path));
      inventory.taken.delete(path);
    };
    for (let n = 0; n < files; n += 1) {
      const path = `f${n}.mp4`;
      const done = { ...ready, sha256: 'aa', end: 'done', disposal: 'pending', folder, path } as const;
      await rows.insert(someFacts({ ...done, id: `f_${n}`, version: { ...someVersion, ino: String(n) } }));
      inventory.taken.set(path, someVersion);
      inventory.taken.setState(path, 'done');
      clock.advance(1000 / perSecond);
      await rows.claim(`f_${n}`, putAway);
    }
    expect(state).toEqual({ doubt: null, freezes: 0 });
    expect(await ledger.count({ states: ['done'] })).toBe(files);
    expect(stateOf((await ledger.load('f_0')) ?? someFacts())).toBe('done');
  },
  600_000,
);
