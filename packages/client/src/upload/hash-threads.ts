import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

import { partBytes } from './body-reader.ts';
import type { Done, Order } from './hash-thread.ts';
import { hashHere } from './running-hash.ts';
import type { RunningHash } from './running-hash.ts';

export interface HashThreadsOptions {
  /** Starts a thread; may throw. */
  readonly start?: () => Worker;
  /** Maximum number of threads; 0 for none. */
  readonly most?: number;
  /** How long an idle thread is kept, in milliseconds. */
  readonly idleMs?: number;
}

/** Parts of one hash in memory at a time: one being sent, one being hashed, one being read. */
const partsPerRing = 3;

/**
 * Maximum number of threads. Four saturate a 10 Gbit/s line even on a processor without SHA-256 instructions (0.78 GB/s
 * each, measured).
 */
const mostThreads = 4;

/**
 * Threads that hash large files, so that the sending thread only sends. They start with the first hash, serve the whole
 * process, and exit after some idle time. If none is available, a hash runs in the calling thread.
 */
export class HashThreads {
  readonly #start: () => Worker;
  readonly #most: number;
  readonly #idleMs: number;
  readonly #threads = new Set<HashThread>();
  #refusedAt = -Infinity;

  /** On a single processor the default is no threads, since a thread would only compete with the caller. */
  constructor({ start = startWorker, most, idleMs = 10_000 }: HashThreadsOptions = {}) {
    this.#start = start;
    this.#most = most ?? Math.min(availableParallelism() - 1, mostThreads);
    this.#idleMs = idleMs;
  }

  /** Number of running threads. */
  get count(): number {
    return this.#threads.size;
  }

  /** Starts a hash in the least busy thread; returns null if there is no thread. */
  begin(): RunningHash | null {
    const idlest = [...this.#threads].toSorted((one, other) => one.load - other.load)[0];
    const thread = idlest !== undefined && (idlest.load === 0 || this.count >= this.#most) ? idlest : this.#add();
    return (thread ?? idlest)?.begin() ?? null;
  }

  #add(): HashThread | null {
    if (this.count >= this.#most || performance.now() - this.#refusedAt < refusalMs) return null;
    try {
      const thread = new HashThread(this.#start(), this.#idleMs, () => this.#ended(thread));
      this.#threads.add(thread);
      return thread;
    } catch {
      this.#refusedAt = performance.now();
      return null;
    }
  }

  #ended(thread: HashThread): void {
    this.#threads.delete(thread);
    if (!thread.isWanted) return;
    this.#refusedAt = performance.now();
  }
}

/**
 * No thread is started for this long after one died or failed to start (a limit on tasks or memory), because each
 * failure makes its files be read twice.
 */
const refusalMs = 600_000;

/** The hash threads of this process. */
export const hashThreads = new HashThreads();

/** Starts hashing a file. */
export type BeginHash = (sizeBytes: number) => RunningHash;

/** Minimum file size for a thread. A smaller file is hashed before a thread has started. */
const leastBytesForThread = 16 * 1024 * 1024;

/** Hashes large files in a thread if one is available, and anything else in the calling thread. */
export const beginHash: BeginHash = (sizeBytes) =>
  (sizeBytes < leastBytesForThread ? null : hashThreads.begin()) ?? hashHere(sizeBytes);

/** One thread with its ring buffers. Each buffer serves one hash at a time and is reused by later ones. */
class HashThread {
  readonly #worker: Worker;
  readonly #idleMs: number;
  readonly #onEnd: () => void;
  readonly #rings: RingBuffer[] = [];
  #idle: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(worker: Worker, idleMs: number, onEnd: () => void) {
    this.#worker = worker;
    this.#idleMs = idleMs;
    this.#onEnd = onEnd;
    worker.on('message', ({ ring, sha256 }: Done) => this.#rings[ring]?.done(sha256));
    worker.on('error', () => this.#end());
    worker.on('exit', () => this.#end());
  }

  /** Number of hashes running in this thread. */
  get load(): number {
    return this.#rings.filter(({ isUsed }) => isUsed).length;
  }

  /** Whether any hash is still running in this thread. */
  get isWanted(): boolean {
    return this.load > 0;
  }

  begin(): RunningHash {
    clearTimeout(this.#idle);
    // Keeps the process alive while the thread is hashing.
    this.#worker.ref();
    const ring = this.#rings.find(({ isUsed }) => !isUsed) ?? this.#addRing();
    ring.begin();
    return ring;
  }

  #addRing(): RingBuffer {
    const number = this.#rings.length;
    const ring = new RingBuffer(
      number,
      (order) => this.#send(order),
      () => this.#rest(),
    );
    this.#rings.push(ring);
    return ring;
  }

  #send(order: Order): void {
    // oxlint-disable-next-line require-post-message-target-origin -- a thread is not a window and has no origin
    this.#worker.postMessage(order);
  }

  #rest(): void {
    if (this.isWanted || this.#isOver) return;
    this.#worker.unref();
    this.#idle = setTimeout(() => {
      this.#end();
      void this.#worker.terminate();
    }, this.#idleMs).unref();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#idle);
    this.#onEnd();
    for (const ring of this.#rings) ring.lose();
  }
}

class RingBuffer implements RunningHash {
  readonly memory: Buffer;
  readonly #number: number;
  readonly #send: (order: Order) => void;
  readonly #onFree: () => void;
  /**
   * Callbacks for pending replies, first in, first out. Replies for an abandoned hash arrive before those of the next.
   */
  readonly #waiting: ((sha256: string | null) => void)[] = [];
  #isUsed = false;
  #isLost = false;

  constructor(number: number, send: (order: Order) => void, onFree: () => void) {
    const memory = new SharedArrayBuffer(partsPerRing * partBytes);
    this.memory = Buffer.from(memory);
    this.#number = number;
    this.#send = send;
    this.#onFree = onFree;
    send({ kind: 'ring', ring: number, memory });
  }

  get isUsed(): boolean {
    return this.#isUsed;
  }

  begin(): void {
    this.#isUsed = true;
    this.#send({ kind: 'begin', ring: this.#number });
  }

  async update(piece: Buffer): Promise<void> {
    await this.#ask({ kind: 'update', ring: this.#number, at: piece.byteOffset, length: piece.length });
  }

  digest(): Promise<string | null> {
    return this.#ask({ kind: 'digest', ring: this.#number });
  }

  done(sha256: string | null = null): void {
    this.#waiting.shift()?.(sha256);
  }

  lose(): void {
    this.#isLost = true;
    for (const tell of this.#waiting.splice(0)) tell(null);
  }

  [Symbol.dispose](): void {
    if (!this.#isUsed) return;
    this.#isUsed = false;
    this.#onFree();
  }

  #ask(order: Order): Promise<string | null> {
    if (this.#isLost) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#send(order);
    });
  }
}

// Same extension as this file: .ts in the sources, .js in the built package.
const threadFile = new URL(`./hash-thread${extname(import.meta.url)}`, import.meta.url);

/** Starts a thread without this process's Node options, some of which load or evaluate code. */
function startWorker(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 };
  return new Worker(threadFile, { name: 'hash', env: {}, execArgv: [], resourceLimits });
}
