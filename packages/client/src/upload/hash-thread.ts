import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

/*
 * A thread that hashes what another one reads into shared memory (hash-threads.ts). It opens no file and waits for nothing: orders are
 * carried out in the order in which they came.
 */

/**
 * To this thread. `ring`: the number of the ring buffer that is meant; the first order for a new one brings its memory.
 */
export type Order =
  | { readonly kind: 'ring'; readonly ring: number; readonly memory: SharedArrayBuffer }
  | { readonly kind: 'begin'; readonly ring: number }
  | { readonly kind: 'update'; readonly ring: number; readonly at: number; readonly length: number }
  | { readonly kind: 'digest'; readonly ring: number };

/** The answer to an update or a digest. */
export interface Done {
  readonly ring: number;
  /** The answer to a digest, hex. */
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
