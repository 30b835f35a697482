import {
  chmodSync,
  closeSync,
  openSync,
  readdirSync,
  readlinkSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { AbortedError, FileChangedError } from '../../../packages/client/src/errors.ts';
import type { FileReader } from '../../../packages/client/src/upload/file-reader.ts';
import { HashThreads } from '../../../packages/client/src/upload/hash-threads.ts';
import { hashHere } from '../../../packages/client/src/upload/running-hash.ts';
import type { RunningHash } from '../../../packages/client/src/upload/running-hash.ts';
import { FilePass } from '../../../packages/client/src/upload/file-pass.ts';
import { UploadBody } from '../../../packages/client/src/upload/upload-body.ts';
import { seekableOf } from '../../../packages/client/src/upload/upload-source.ts';
import { content, sha256 } from '../bytes.ts';
import { scratchDirectory, type ScratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';

const mib = 1024 * 1024;
const threadFile = new URL('../../../packages/client/src/upload/hash-thread.ts', import.meta.url);

let folder: ScratchDirectory;
beforeAll(async () => {
  folder = await scratchDirectory();
});
afterAll(() => folder[Symbol.asyncDispose]());

/** Threads of which each can be killed. */
function killableThreads(options: { readonly most?: number; readonly idleMs?: number } = {}) {
  const workers: Worker[] = [];
  const start = (): Worker => {
    const worker = new Worker(threadFile, { env: {}, execArgv: [] });
    workers.push(worker);
    return worker;
  };
  const threads = new HashThreads({ start, most: 2, idleMs: 60_000, ...options });
  return {
    threads,
    workers,
    begin: (): RunningHash => threads.begin() ?? expect.fail('there is no thread'),
    kill: async () => void (await Promise.all(workers.map((worker) => worker.terminate()))),
    [Symbol.asyncDispose]: async () => void (await Promise.all(workers.map((worker) => worker.terminate()))),
  };
}

interface Sending {
  readonly pass: FilePass;
  readonly reader: FileReader;
  readonly stop: AbortController;
  readonly commits: string[];
  /** Takes slices as a connection does, until so many bytes have left or the body ends. */
  take(upTo?: number): Promise<void>;
  readonly taken: Buffer[];
  end(): Promise<void>;
}

async function send(path: string, begin: (sizeBytes: number) => RunningHash): Promise<Sending> {
  const { sizeBytes, openReader } = await seekableOf(path);
  const reader = (await openReader()) as FileReader;
  const stop = new AbortController();
  const commits: string[] = [];
  const pass = new FilePass({
    reader,
    sizeBytes,
    signal: stop.signal,
    beginHash: begin,
    beforeLastPart: async (hash) => void commits.push(hash),
  });
  const body = new UploadBody({
    pass,
    end: sizeBytes,
    signal: stop.signal,
    beforeBytes: () => null,
    onProgress: async () => {},
    onHold: () => {},
  });
  body.start();
  const slices = body[Symbol.asyncIterator]();
  const taken: Buffer[] = [];
  let bytes = 0;
  return {
    pass,
    reader,
    stop,
    commits,
    taken,
    take: async (upTo = Infinity) => {
      while (bytes < upTo) {
        const slice = await slices.next();
        if (slice.done === true) return;
        bytes += slice.value.length;
        // A copy: its place is used again.
        taken.push(Buffer.from(slice.value));
      }
    },
    end: async () => {
      stop.abort();
      await body.settled();
      await pass[Symbol.asyncDispose]();
      await reader[Symbol.asyncDispose]();
    },
  };
}

function openIn(directory: string): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(directory) ? [path] : [];
    } catch {
      return [];
    }
  });
}

function poke(path: string, at: number): void {
  const fd = openSync(path, 'r+');
  writeSync(fd, Buffer.from([255]), 0, 1, at);
  closeSync(fd);
}

const kinds = ['thread', 'here'] as const;

describe.each(kinds)('a file that is hashed %s', (kind) => {
  test('leaves whole and in order, with its hash, whatever its size', async () => {
    await using pool = killableThreads();
    const begin = kind === 'thread' ? () => pool.begin() : hashHere;
    const around = fc.tuple(fc.constantFrom(0, 1, 2, 3, 4, 5, 9), fc.integer({ min: -3, max: 3 }));
    const sizes = fc.oneof(
      around.map(([parts, more]) => Math.max(1, parts * mib + more)),
      fc.integer({ min: 1, max: 10 * mib }),
    );
    await fc.assert(
      fc.asyncProperty(sizes, async (bytes) => {
        const path = await folder.write('any.mp4', content(bytes));
        const sending = await send(path, begin);
        await sending.take();
        const expected = sha256(content(bytes));
        expect(sha256(Buffer.concat(sending.taken))).toBe(expected);
        expect(sending.commits).toEqual([expected]);
        expect(sending.pass.sha256).toBe(expected);
        await sending.end();
      }),
      { numRuns: 25 },
    );
    expect(pool.threads.count).toBe(kind === 'thread' ? 1 : 0);
  });
});

/** How far the body is when something happens: nothing has left, some parts have, all but the last part have. */
const moments = { first: 0, middle: 3.5 * mib, last: 8 * mib } as const;
const bytes = 9 * mib;

interface Happening {
  happen(sending: Sending, path: string): void;
  /** The error; null: the file arrives. */
  readonly error: (new (...args: never[]) => Error) | null;
}

const happenings: Readonly<Record<string, Happening>> = {
  'is broken off': { happen: ({ stop }) => stop.abort(), error: AbortedError },
  'is written to': { happen: (_, path) => poke(path, 100), error: FileChangedError },
  'is cut short': { happen: (_, path) => truncateSync(path, 10), error: FileChangedError },
  'loses its name': { happen: (_, path) => unlinkSync(path), error: null },
};

describe.each(kinds)('hashed %s', (kind) => {
  describe.each(Object.entries(happenings))('a file that %s', (name, { happen, error }) => {
    test.each(Object.entries(moments))('at the %s part ends as it must, and leaves nothing behind', async (_, at) => {
      await using pool = killableThreads({ idleMs: 0 });
      const path = await folder.write(`${kind} ${name} ${at}.mp4`, content(bytes));
      const sending = await send(path, kind === 'thread' ? () => pool.begin() : hashHere);
      await sending.take(at);
      happen(sending, path);
      const end = await sending.take().catch((reason: unknown) => reason);
      if (error === null) {
        expect(end).toBeUndefined();
        expect(sending.commits).toEqual([sha256(content(bytes))]);
      } else {
        expect(end).toBeInstanceOf(error);
        expect(sending.commits).toEqual([]);
        expect(Buffer.concat(sending.taken).length).toBeLessThanOrEqual(8 * mib);
      }
      await sending.end();
      expect(openIn(folder.path)).toEqual([]);
      await until('no thread is left', () => pool.threads.count === 0);
    });
  });

  test.each(Object.entries(moments))('a body that is abandoned at the %s part releases everything', async (_, at) => {
    await using pool = killableThreads({ idleMs: 0 });
    const path = await folder.write(`${kind} stalled ${at}.mp4`, content(bytes));
    const sending = await send(path, kind === 'thread' ? () => pool.begin() : hashHere);
    await sending.take(at);
    await sending.end();
    expect(sending.commits).toEqual([]);
    expect(openIn(folder.path)).toEqual([]);
    await until('no thread is left', () => pool.threads.count === 0);
  });
});

describe('a thread that dies', () => {
  test.each(Object.entries(moments))('at the %s part costs a second read of the file, no failure', async (_, at) => {
    await using pool = killableThreads();
    const path = await folder.write(`dead ${at}.mp4`, content(bytes));
    const sending = await send(path, () => pool.begin());
    await sending.take(Math.max(1, at));
    await pool.kill();
    await sending.take();
    expect(sending.commits).toEqual([sha256(content(bytes))]);
    expect(sha256(Buffer.concat(sending.taken))).toBe(sending.commits[0]);
    await sending.end();
    expect(pool.threads.count).toBe(0);
    // The next one would cost the same.
    expect(pool.threads.begin()).toBeNull();
  });

  test('leaves no hash for bytes that may have changed since they were sent', async () => {
    await using pool = killableThreads();
    const path = await folder.write('dead and touched.mp4', content(bytes));
    const sending = await send(path, () => pool.begin());
    await sending.take(3 * mib);
    await pool.kill();
    // As a write whose modification time was put back: only the change time tells of it.
    chmodSync(path, 0o600);
    await expect(sending.take()).rejects.toThrow(FileChangedError);
    expect(sending.commits).toEqual([]);
    await sending.end();
  });

  test('does not keep an upload that is broken off', async () => {
    await using pool = killableThreads();
    const path = await folder.write('dead and gone.mp4', content(bytes));
    const sending = await send(path, () => pool.begin());
    await sending.take(3 * mib);
    await pool.kill();
    await sending.end();
    expect(openIn(folder.path)).toEqual([]);
  });

  test('while it starts, because its file is missing for example, is one like any other', async () => {
    const threads = new HashThreads({ start: () => new Worker(new URL('no-such-file.js', import.meta.url)), most: 1 });
    const path = await folder.write('never started.mp4', content(bytes));
    const sending = await send(path, () => threads.begin() ?? expect.fail('there is no thread'));
    await sending.take();
    expect(sending.commits).toEqual([sha256(content(bytes))]);
    await sending.end();
  });
});

describe('the threads', () => {
  test('are shared by all uploads, up to the limit', async () => {
    await using pool = killableThreads({ most: 2 });
    const path = await folder.write('many.mp4', content(5 * mib + 1));
    const all = await Promise.all(Array.from({ length: 8 }, () => send(path, () => pool.begin())));
    await Promise.all(all.map((sending) => sending.take()));
    expect(pool.workers).toHaveLength(2);
    for (const sending of all) {
      expect(sending.commits).toEqual([sha256(content(5 * mib + 1))]);
      await sending.end();
    }
  });

  test('give a hash that was broken off no part in the next one of the same memory', async () => {
    await using pool = killableThreads({ most: 1 });
    const path = await folder.write('reused.mp4', content(bytes));
    for (const at of [2 * mib, 5 * mib, 7 * mib]) {
      const broken = await send(path, () => pool.begin());
      await broken.take(at);
      await broken.end();
    }
    const sending = await send(path, () => pool.begin());
    await sending.take();
    expect(sending.commits).toEqual([sha256(content(bytes))]);
    await sending.end();
    expect(pool.workers).toHaveLength(1);
  });

  test('are none when the system refuses one, and it is not asked again at once', () => {
    let asked = 0;
    const start = (): Worker => {
      asked += 1;
      throw Object.assign(new Error('Worker initialization failure: EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
    };
    const threads = new HashThreads({ start, most: 4 });
    expect([threads.begin(), threads.begin()]).toEqual([null, null]);
    expect(asked).toBe(1);
  });

  test('are none when none is allowed', () => {
    expect(new HashThreads({ most: 0 }).begin()).toBeNull();
  });
});
