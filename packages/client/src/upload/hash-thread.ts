import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

/*
 * A thread that hashes what other threads read (hash-threads.ts). It owns no file and waits for nothing: each order is answered, in
 * the order in which they came.
 */
export type Order =
  | { readonly kind: 'lane'; readonly lane: number; readonly memory: SharedArrayBuffer }
  | { readonly kind: 'begin'; readonly lane: number }
  | { readonly kind: 'update'; readonly lane: number; readonly at: number; readonly length: number }
  | { readonly kind: 'digest'; readonly lane: number };

/** To an update and a digest. */
export interface Done {
  readonly lane: number;
  /** Of a digest, hex. */
  readonly sha256?: string;
}

interface Lane {
  readonly memory: Buffer;
  hash: Hash;
}

const lanes = new Map<number, Lane>();

parentPort?.on('message', (order: Order) => {
  if (order.kind === 'lane') {
    lanes.set(order.lane, { memory: Buffer.from(order.memory), hash: createHash('sha256') });
    return;
  }
  const lane = lanes.get(order.lane);
  if (lane === undefined) throw new Error(`there is no lane ${order.lane}`);
  if (order.kind === 'begin') lane.hash = createHash('sha256');
  else if (order.kind === 'digest') tell({ lane: order.lane, sha256: lane.hash.digest('hex') });
  else {
    lane.hash.update(lane.memory.subarray(order.at, order.at + order.length));
    tell({ lane: order.lane });
  }
});

function tell(done: Done): void {
  // oxlint-disable-next-line require-post-message-target-origin -- a thread is not a window and has no origin
  parentPort?.postMessage(done);
}
