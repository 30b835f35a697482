import { writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AfterReady } from '../../src/config/config.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { openInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { createRows } from '../../src/pipeline/file/rows.ts';
import type { Row } from '../../src/pipeline/file/rows.ts';
import { Inventory } from '../../src/watch/inventory.ts';
import type { RootDoubt } from '../../src/watch/ports.ts';
import { VanishBreaker } from '../../src/watch/missing-files.ts';
import { ready, someFacts, someVersion } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { FakeClock } from '../watch/fake-clock.ts';

/** What happens after the disk was changed for a file and before its row says so. */
type Gap = 'nothing' | 'scan' | 'two scans' | 'crash';

const gaps = fc.constantFrom<Gap>('nothing', 'scan', 'scan', 'scan', 'two scans', 'crash');
const actions = fc.constantFrom<AfterReady>({ kind: 'move', to: 'done' }, { kind: 'delete' });

async function drop(inbox: Inbox, names: readonly string[]): Promise<void> {
  for (const name of names) await writeFile(inbox.at(name), `content of ${name}`);
}

function state(inbox: Inbox): string | undefined {
  return inbox.folders.status()[0]?.state;
}

/** Puts all finished files away. A crash ends the round before the row is written, and the next start continues. */
async function putAllAway(inbox: Inbox, moments: readonly Gap[]): Promise<void> {
  const left = [...moments];
  for (let isOver = false; !isOver;) {
    isOver = true;
    await inbox
      .putAway(async () => {
        const gap = left.shift() ?? 'nothing';
        if (gap === 'scan' || gap === 'two scans') await inbox.rescan();
        if (gap === 'two scans') await inbox.rescan();
        if (gap === 'crash') throw new Error('crash');
      })
      .catch((error: unknown) => {
        if (!(error instanceof Error) || error.message !== 'crash') throw error;
        isOver = false;
      });
    if (!isOver) await inbox.restart();
  }
}

test('whenever dropcast moves or deletes its files, scans and starts again, the folder never freezes', async () => {
  await fc.assert(
    fc.asyncProperty(actions, fc.array(gaps, { minLength: 20, maxLength: 26 }), async (afterReady, moments) => {
      await using inbox = await openInbox({ config: { afterReady } });
      const names = moments.map((_, n) => `f${n}.mp4`);
      await drop(inbox, names);
      await inbox.start();
      await inbox.settled();
      await inbox.finishAll();
      await putAllAway(inbox, moments);
      expect(state(inbox)).toBe('watching');
      // A file that comes after them is taken in.
      await drop(inbox, ['later.mp4']);
      await inbox.settled();
      expect((await inbox.rows()).map((row) => stateOf(row)).toSorted()).toEqual([
        ...names.map(() => 'done'),
        'queued',
      ]);
    }),
    { numRuns: 5 },
  );
}, 60_000);

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
