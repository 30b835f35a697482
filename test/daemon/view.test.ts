import { expect, test } from 'vitest';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { filesOf } from '../../src/daemon/view.ts';
import type { FileFilter, LedgerView } from '../../src/ledger/ledger.ts';
import type { Facts } from '../../src/pipeline/facts.ts';
import { created, someFacts } from '../pipeline/some-facts.ts';

/** Five files wait for an upload slot, newest first; the oldest of them has it. */
const waiting = [5, 4, 3, 2, 1].map((n) => someFacts({ ...created, id: `f_${n}` }));
const ledger = {
  list: ({ limit }: FileFilter): Promise<readonly Facts[]> => Promise.resolve(waiting.slice(0, limit)),
} as LedgerView;
const daemon = {
  conductor: {
    runner: { isLive: (id: string) => id === 'f_1' },
    pause: () => null,
    uploads: () => [{ id: 'f_1', sentBytes: 7 }],
  },
  gate: { snapshot: () => ({ waiting: 0 }) },
  folders: { settling: () => [] },
} as unknown as Daemon;

test.for([
  { states: ['uploading'], limit: 2, ids: ['f_1'] },
  { states: ['awaiting upload'], limit: 4, ids: ['f_5', 'f_4', 'f_3', 'f_2'] },
  { states: ['awaiting upload'], limit: 2, ids: ['f_5', 'f_4'] },
  { states: [], limit: 2, ids: ['f_5', 'f_4'] },
])('a limit of $limit counts files that are $states, not rows of the ledger', async ({ states, limit, ids }) => {
  const { files } = await filesOf(ledger, daemon, { states, limit });
  expect(files.map(({ id }) => id)).toEqual(ids);
});
