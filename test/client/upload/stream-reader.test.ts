import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';

import { AbortedError, FileChangedError } from '../../../packages/client/src/errors.ts';
import { StreamReader } from '../../../packages/client/src/upload/stream-reader.ts';
import type { StreamSource } from '../../../packages/client/src/video-client.ts';

type Opened = ReturnType<StreamSource['open']>;

/** Reads from a source until the signal fires, then disposes of the reader as an upload does. */
async function readUntilAborted(open: () => Opened, stop: AbortController): Promise<void> {
  await using reader = new StreamReader({ name: 'clip.mp4', sizeBytes: 4, open });
  await expect(reader.read(0, Buffer.alloc(4), stop.signal)).rejects.toThrow(AbortedError);
}

describe('a stream that hangs is given up with the upload', () => {
  test.each([undefined, 'bytes'] as const)('that of Fetch, of type %s', async (type) => {
    const stop = new AbortController();
    const cancelled = Promise.withResolvers<void>();
    const hangs = {
      pull() {
        setImmediate(() => stop.abort());
        return new Promise<void>(() => {});
      },
      cancel: () => cancelled.resolve(),
    };
    const stream = type === 'bytes' ? new ReadableStream({ ...hangs, type }) : new ReadableStream<Uint8Array>(hangs);
    await readUntilAborted(() => stream, stop);
    await cancelled.promise;
  });

  test('one that only looks like that of Node', async () => {
    const stop = new AbortController();
    const destroyed = Promise.withResolvers<void>();
    const stream = {
      on: () => {},
      destroy: () => destroyed.resolve(),
      [Symbol.asyncIterator]: () => ({
        next: () => {
          setImmediate(() => stop.abort());
          return new Promise<never>(() => {});
        },
      }),
    };
    await readUntilAborted(() => stream, stop);
    await destroyed.promise;
  });
});

test('a stream that is opened only after the upload has ended is closed, and an error of closing it ends nothing else', async () => {
  const stop = new AbortController();
  const late = Promise.withResolvers<Readable>();
  setImmediate(() => stop.abort());
  await readUntilAborted(() => late.promise, stop);
  const stream = new Readable({ destroy: (_, done) => setImmediate(() => done(new Error('the disk is gone'))) });
  const closed = new Promise((resolve) => stream.once('close', resolve));
  late.resolve(stream);
  await closed;
  expect(stream.errored).toMatchObject({ message: 'the disk is gone' });
});

describe('an iterator by hand', () => {
  const bytes = Buffer.from('clip');
  const iterable = (iterator: object) =>
    ({ [Symbol.asyncIterator]: () => iterator }) as unknown as AsyncIterable<Uint8Array>;

  test('may answer without promises, as `for await` takes it', async () => {
    const into = Buffer.alloc(4);
    const open = () => iterable({ next: () => ({ done: false, value: bytes }), return: () => ({ done: true }) });
    {
      await using reader = new StreamReader({ name: 'clip.mp4', sizeBytes: 4, open });
      await reader.read(0, into, new AbortController().signal);
    }
    expect(into).toEqual(bytes);
  });

  test('hides no error of the upload when it throws while it is closed', async () => {
    const next = async () => ({ done: true });
    const fails = () => {
      throw new Error('cannot be closed');
    };
    const reading = async () => {
      await using reader = new StreamReader({
        name: 'clip.mp4',
        sizeBytes: 4,
        open: () => iterable({ next, return: fails }),
      });
      await reader.read(0, Buffer.alloc(4), new AbortController().signal);
    };
    await expect(reading()).rejects.toThrow(FileChangedError);
  });
});
