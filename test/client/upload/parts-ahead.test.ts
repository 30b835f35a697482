import { describe, expect, test } from 'vitest';

import { partBytes } from '../../../packages/client/src/upload/body-reader.ts';
import { partsAhead } from '../../../packages/client/src/upload/parts-ahead.ts';
import { hashHere } from '../../../packages/client/src/upload/running-hash.ts';

/** A source whose reads end when they are told to. */
function heldSource(parts: number, places = 2) {
  const reads: (PromiseWithResolvers<void> & { readonly position: number; readonly bytes: number })[] = [];
  const sizeBytes = parts * partBytes;
  const hash = { ...hashHere(0), memory: Buffer.alloc(places * partBytes) };
  const read = (position: number, into: Buffer): Promise<void> => {
    const held = { ...Promise.withResolvers<void>(), position, bytes: into.length };
    reads.push(held);
    return held.promise;
  };
  return { reads, parts: partsAhead({ sizeBytes, hash, read }) };
}

/** Lets everything go on that can. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Takes the first part, so that the second is being read. */
async function firstOf({ reads, parts }: ReturnType<typeof heldSource>): Promise<void> {
  const first = parts.next();
  await turn();
  reads[0]?.resolve();
  await first;
  await turn();
}

describe('parts read ahead', () => {
  test('are read one after the other, while the one before is used, and no further than there is memory', async () => {
    const { reads, parts } = heldSource(5);
    const first = parts.next();
    await turn();
    expect(reads.map(({ position }) => position)).toEqual([0]);
    reads[0]?.resolve();
    await first;
    await turn();
    expect(reads.map(({ position }) => position)).toEqual([0, partBytes]);
    reads[1]?.resolve();
    await turn();
    // Both places are taken: one by the part in use, one by the next.
    expect(reads).toHaveLength(2);
    await parts.next();
    await turn();
    expect(reads).toHaveLength(3);
    reads[2]?.resolve();
    await parts.return();
  });

  test('stop with the read in progress: a closed file is never read', async () => {
    const { reads, parts } = heldSource(5);
    await firstOf({ reads, parts });
    let isOver = false;
    const over = parts.return().then(() => (isOver = true));
    await turn();
    expect(isOver).toBe(false);
    reads[1]?.resolve();
    await over;
    await turn();
    expect(reads).toHaveLength(2);
  });

  test('begin none of the reads behind that one', async () => {
    const { reads, parts } = heldSource(5, 4);
    await firstOf({ reads, parts });
    const over = parts.return();
    reads[1]?.resolve();
    await turn();
    expect(reads).toHaveLength(2);
    await over;
  });

  test('report a failed read when its turn comes', async () => {
    const { reads, parts } = heldSource(5);
    await firstOf({ reads, parts });
    reads[1]?.reject(new Error('the disk is broken'));
    await turn();
    await expect(parts.next()).rejects.toThrow('the disk is broken');
    expect(reads).toHaveLength(2);
  });

  test('are whole at the end, and the one before the last is what is left', async () => {
    const sizes: number[] = [];
    const sizeBytes = 2 * partBytes + 5;
    const parts = partsAhead({ sizeBytes, hash: hashHere(sizeBytes), read: async () => {} });
    for await (const part of parts) sizes.push(part.length);
    expect(sizes).toEqual([partBytes, 5, partBytes]);
  });
});
