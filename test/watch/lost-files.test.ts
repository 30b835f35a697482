import { expect, test } from 'vitest';
import type { FileVersion } from '../../src/pipeline/file/file-version.ts';
import { Inventory, lostFiles, sidecarState } from '../../src/watch/inventory.ts';
import { startWaiting } from '../../src/watch/waiting-file.ts';

const version = (size: number): FileVersion => ({
  dev: '1',
  ino: '2',
  birthtimeNs: '3',
  size,
  mtimeNs: '4',
  ctimeNs: '5',
});

interface Case {
  /** What the watcher takes the ledger to have: its size and state. */
  readonly had?: readonly [number, string];
  readonly isWaiting?: true;
  /** What the ledger has now. */
  readonly has?: readonly [number, string];
  readonly isLost: boolean;
  /** State of what the watcher takes the ledger to have, once it has compared; undefined: it has nothing there. */
  readonly state: string | null | undefined;
}

const cases: Readonly<Record<string, Case>> = {
  'a row is as it was': { had: [1, 'queued'], has: [1, 'queued'], isLost: false, state: 'queued' },
  'a row went back to another state': { had: [1, 'done'], has: [1, 'uploading'], isLost: false, state: 'uploading' },
  'a row is gone': { had: [1, 'queued'], isLost: true, state: 'queued' },
  'a row is of the version before': { had: [2, 'queued'], has: [1, 'done'], isLost: true, state: 'done' },
  'a sidecar has no row': { had: [1, sidecarState], isLost: false, state: sidecarState },
  'a row is back that was given up': { has: [1, 'queued'], isLost: false, state: 'queued' },
  'a row is back, and another file settles at its path': {
    isWaiting: true,
    has: [1, 'queued'],
    isLost: false,
    state: undefined,
  },
};

test.each(Object.entries(cases))('after the ledger lost its last writes, %s', async (_, each) => {
  const inventory = new Inventory();
  const { taken, waiting } = inventory;
  if (each.had !== undefined) {
    taken.set('a.mp4', version(each.had[0]));
    taken.setState('a.mp4', each.had[1]);
  }
  if (each.isWaiting) waiting.set('a.mp4', startWaiting('a.mp4', 'media', version(3), 0));
  const { has } = each;
  const lost = await lostFiles(inventory, async (tell) => {
    if (has !== undefined) tell({ path: 'a.mp4', version: version(has[0]), state: has[1] });
  });
  expect(lost).toEqual(each.isLost ? ['a.mp4'] : []);
  expect(taken.has('a.mp4') ? taken.state('a.mp4') : undefined).toBe(each.state);
});
