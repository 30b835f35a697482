import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

/*
 * A thread that hashes what another thread reads into shared memory (hash-threads.ts). It opens no files, never waits,
 * and carries out orders as they arrive.
 */

/** A message to this thread. `ring` identifies a ring buffer; the first order for a new one carries its memory. */
export type Order =
  | { readonly kind: 'ring'; readonly ring: number; readonly memory: SharedArrayBuffer }
  | { readonly kind: 'begin'; readonly ring: number }
  | { readonly kind: 'update'; readonly ring: number; readonly at: number; readonly length: number }
  | { readonly kind: 'digest'; readonly ring: number };

/** Reply to an `update` or `digest` order. */
export interface Done {
  readonly ring: number;
  /** The hash, hex, in reply to `digest`. */
  readonly sha256?: string;
}

interface RingBuffer {
  readonly memory: Buffer;
  hash: Hash;
}

const rings = new Map<number, RingBuffer>();

parentPort?.on('message', (order: Order) => {
  if (order.kind === 'ring') {
    rings.set(order.ring, { memory: Buffer.from(order.memory), hash: createHash('sha256') });
    return;
  }
  const ring = rings.get(order.ring);
  if (ring === undefined) throw new Error(`there is no ring ${order.ring}`);
  if (order.kind === 'begin') ring.hash = createHash('sha256');
  else if (order.kind === 'digest') tell({ ring: order.ring, sha256: ring.hash.digest('hex') });
  else {
    ring.hash.update(ring.memory.subarray(order.at, order.at + order.length));
    tell({ ring: order.ring });
  }
});

function tell(done: Done): void {
  // oxlint-disable-next-line require-post-message-target-origin -- a thread is not a window and has no origin
  parentPort?.postMessage(done);
}
