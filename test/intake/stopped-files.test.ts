import { expect, test } from 'vitest';
import { createStoppedFiles } from '../../src/intake/stopped-files.ts';
import type { FileEvent } from '../../src/pipeline/file/machine.ts';
import { MemoryStore } from '../pipeline/memory-store.ts';
import { failure, someFacts } from '../pipeline/some-facts.ts';

const held = (id: string, code: string) =>
  someFacts({ id, path: `${id}.mp4`, end: 'held', lastFailure: failure('permanent', { code }) });

function open(rows: ConstructorParameters<typeof MemoryStore>[0], isOpen: (path: string) => boolean) {
  const looked: string[] = [];
  const applied: [string, FileEvent][] = [];
  const look = (path: string): boolean => (looked.push(path), isOpen(path));
  const stopped = createStoppedFiles({
    store: new MemoryStore(rows),
    runner: { apply: async (id, event) => (applied.push([id, event]), 'applied') },
    isReadable: async ({ path }) => look(path),
    isClosed: async ({ path }) => !look(path),
  });
  return { looked, applied, stopped: () => stopped('/inbox') };
}

test('of 1,200 files that stay closed, a scan looks at 500, and the next ones at the others', async () => {
  const many = Array.from({ length: 1_200 }, (_, n) => held(`f_${String(n).padStart(4, '0')}`, 'unreadable'));
  const { looked, stopped } = open(many, () => false);
  await stopped();
  expect(looked).toHaveLength(500);
  for (let scan = 2; scan <= 3; scan += 1) await stopped();
  expect(new Set(looked).size).toBe(1_200);
  await stopped();
  expect(looked).toHaveLength(1_700);
});

test('once one of them can be read, all are looked at', async () => {
  const many = Array.from({ length: 1_200 }, (_, n) => held(`f_${String(n).padStart(4, '0')}`, 'unreadable'));
  const { stopped, applied } = open(many, () => true);
  expect(await stopped()).toEqual(many.map(({ path }) => path));
  expect(applied).toEqual([]);
});

test('the entry of a directory is over once it is open', async () => {
  const { stopped, applied } = open([held('f_1', 'closed_directory'), held('f_2', 'closed_directory')], (path) =>
    path.startsWith('f_2'),
  );
  expect(await stopped()).toEqual([]);
  expect(applied).toEqual([['f_2', { type: 'FILE_GONE' }]]);
});
