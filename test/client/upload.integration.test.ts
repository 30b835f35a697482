import { appendFileSync, renameSync, symlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';

import { readOpenFile } from '@dropcast/client';
import type { BodyReader } from '@dropcast/client';
import {
  AbortedError,
  AddressDeadError,
  ConnectionError,
  FileChangedError,
  FileUnreadableError,
  FileVanishedError,
  RedirectError,
  UploadConflictError,
  UploadRejectedError,
  UploadServerError,
  UploadStalledError,
  VideoFailedError,
} from '../../packages/client/src/errors.ts';
import type { StreamSource } from '../../packages/client/src/video-client.ts';
import { startHost, takeAll } from './upload-host.ts';
import type { Handler } from './upload-host.ts';
import { content, sha256 } from './bytes.ts';
import { createVideoClient } from '@dropcast/client';
import { apiKey } from './daemon-client.ts';
import { failure, openClient } from './open-client.ts';
import { losesAnswer, resets, startTinyService, uploadPath } from './tiny-service.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const mib = 1024 * 1024;
const fields = { title: 'T' };
const create = 'POST /v1/videos';
const look = 'GET /v1/videos/vid_1';

interface CountedSource extends StreamSource {
  readonly opened: Readable[];
}

/** A stream of these chunks, which counts how often it is opened. */
function streamOf(chunks: () => Iterable<unknown> | AsyncIterable<unknown>, sizeBytes: number): CountedSource {
  const opened: Readable[] = [];
  const open = () => {
    const stream = Readable.from(chunks(), { objectMode: true });
    opened.push(stream);
    return stream;
  };
  return { name: 'clip.mp4', sizeBytes, open, opened };
}

describe('an upload', () => {
  test('that is rate limited by its host tells why it waits', async () => {
    const limits: Handler = (request, response) => {
      request.resume();
      response.writeHead(429, { 'retry-after': '3' }).end();
    };
    await using service = await startTinyService({ puts: [limits, takeAll()] });
    const told: object[] = [];
    await using opened = openClient(service.baseUrl, { onWait: (note) => void told.push(note) });
    await opened.client.videos.upload(
      streamOf(() => ['x'], 1),
      fields,
    );
    const error = expect.any(UploadServerError);
    expect(told).toEqual([{ operation: 'upload file', reason: 'rate limited', ms: 3000, error }]);
    expect(opened.sleeps).toEqual([3000]);
  });

  test('of a file creates the video and sends all of it, with progress', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    const bytes = content(3 * mib + 5);
    const path = await folder.write('clip.mp4', bytes);
    const told: [number, number][] = [];
    const uploaded = await opened.client.videos.upload(path, fields, {
      // What it returns does not matter, as with any callback.
      onCreated: () => told.push([-1, service.puts().length]),
      onProgress: (sent, total) => void told.push([sent, total]),
    });
    expect(uploaded).toEqual({ id: 'vid_1', sizeBytes: bytes.length, sha256: sha256(bytes) });
    expect(service.asked()).toEqual([create, 'PUT']);
    expect(service.puts()[0]).toMatchObject({ bytes: bytes.length, isComplete: true });
    expect(service.puts()[0]?.headers).toMatchObject({
      'content-length': String(bytes.length),
      'content-type': 'video/mp4',
    });
    expect(told[0]).toEqual([-1, 0]);
    expect(told.at(-1)).toEqual([bytes.length, bytes.length]);
    expect(told.map(([sent]) => sent)).toEqual(told.map(([sent]) => sent).toSorted((a, b) => a - b));
  });

  test('of a file may name a link', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    symlinkSync(await folder.write('real.bin', 'abc'), join(folder.path, 'link.mp4'));
    await opened.client.videos.upload(join(folder.path, 'link.mp4'), fields);
    expect(service.puts()[0]).toMatchObject({ bytes: 3, headers: { 'content-type': 'video/mp4' } });
  });

  test.each([0, 1, mib, mib + 1, 3 * mib + 7])('of a stream of %i bytes sends them as they come', async (size) => {
    const received: Buffer[] = [];
    const keep: Handler = (request, response) => {
      request.on('data', (chunk: Buffer) => received.push(chunk));
      request.on('end', () => response.writeHead(200).end());
      request.resume();
    };
    await using service = await startTinyService({ puts: [keep] });
    await using opened = openClient(service.baseUrl);
    const bytes = content(size);
    const source = streamOf(function* () {
      for (let at = 0; at < size; at += 100_000) yield bytes.subarray(at, at + 100_000);
    }, size);
    const uploaded = await opened.client.videos.upload(source, fields);
    expect(uploaded).toEqual({ id: 'vid_1', sizeBytes: size, sha256: sha256(bytes) });
    expect(sha256(Buffer.concat(received))).toBe(uploaded.sha256);
    expect(service.puts()[0]?.headers['content-length']).toBe(String(size));
    expect(source.opened.map((stream) => stream.destroyed)).toEqual([true]);
  });

  test('of a stream takes text and any kind of byte array', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const source = streamOf(() => ['ä', new Uint8Array([1, 2]), '', Buffer.from('x')], 5);
    const { sha256: sent } = await opened.client.videos.upload(source, fields);
    expect(sent).toBe(sha256(Buffer.from([0xc3, 0xa4, 1, 2, 0x78])));
  });

  test.each<[string, StreamSource['open']]>([
    ['promised', async () => Readable.from(['abcd'])],
    ['of Fetch', () => new Blob(['abcd']).stream()],
    [
      'of a generator',
      async function* () {
        yield 'abcd';
      },
    ],
  ])('of a stream takes one %s', async (_, open) => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const { sha256: sent } = await opened.client.videos.upload({ name: 'clip.mp4', sizeBytes: 4, open }, fields);
    expect(sent).toBe(sha256(Buffer.from('abcd')));
  });

  test('can be made in two steps', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const created = await opened.client.videos.create(fields);
    const uploaded = await opened.client.videos.send(
      streamOf(() => ['abc'], 3),
      created,
    );
    expect(uploaded).toEqual({ id: 'vid_1', sizeBytes: 3, sha256: sha256(Buffer.from('abc')) });
    const imported = { id: 'vid_2', uploadUrl: null };
    const error = await failure(
      opened.client.videos.send(
        streamOf(() => ['abc'], 3),
        imported,
      ),
    );
    expect(error).toMatchObject({ name: 'UploadRejectedError', code: 'no_upload_address' });
  });

  test('is passed to the hooks without its address', async () => {
    const named: Handler = (request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(201, { 'x-request-id': 'req_9' }).end());
    };
    await using service = await startTinyService({ puts: [resets, named] });
    await using opened = openClient(service.baseUrl);
    await opened.client.videos.upload(
      streamOf(() => [content(3 * mib)], 3 * mib),
      fields,
    );
    const note = { operation: 'upload file', method: 'PUT', path: `${service.host.origin}/…` };
    expect(opened.requests.filter(({ method }) => method === 'PUT')).toEqual([
      { ...note, attempt: 1 },
      { ...note, attempt: 2 },
    ]);
    expect(opened.responses.filter(({ method }) => method === 'PUT')).toEqual([
      { ...note, attempt: 1, ms: expect.any(Number) },
      { ...note, attempt: 2, ms: expect.any(Number), status: 201, requestId: 'req_9' },
    ]);
  });
});

describe('before any request is sent', () => {
  test.each<[string, (folder: string) => string | StreamSource, new (message: string) => Error]>([
    ['a file that is not there', (folder) => join(folder, 'none.mp4'), FileVanishedError],
    ['a folder', (folder) => folder, FileUnreadableError],
    ['a device', () => '/dev/null', FileUnreadableError],
    ['a stream of no length', () => streamOf(() => [], -1), TypeError],
    ['a stream of half a byte', () => streamOf(() => [], 1.5), TypeError],
    ['a URL', () => new URL('https://a.example/clip.mp4') as unknown as StreamSource, TypeError],
    ['nothing', () => undefined as unknown as StreamSource, TypeError],
    [
      'a stream without a name',
      () => ({ sizeBytes: 0, open: () => Readable.from([]) }) as unknown as StreamSource,
      TypeError,
    ],
  ])('%s is refused', async (_, source, Kind) => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    expect(await failure(opened.client.videos.upload(source(folder.path), fields))).toBeInstanceOf(Kind);
    for (const wrong of [{ stallTimeoutMs: 0 }, { answerTimeoutMs: 0 }, { timeoutMs: 0 }, { maxRetries: -1 }]) {
      const work = opened.client.videos.upload(
        streamOf(() => [], 0),
        fields,
        wrong,
      );
      expect(await failure(work)).toBeInstanceOf(TypeError);
    }
    expect(service.asked()).toEqual([]);
  });
});

describe('the listener for the new record', () => {
  test.each(['throws', 'rejects'])('that %s ends the upload before the first byte', async (how) => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const onCreated = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('disk full');
    };
    const throwing = () => {
      throw new Error('disk full');
    };
    const options = { onCreated: how === 'throws' ? throwing : onCreated };
    expect(
      await failure(
        opened.client.videos.upload(
          streamOf(() => ['a'], 1),
          fields,
          options,
        ),
      ),
    ).toMatchObject({
      message: 'disk full',
    });
    expect(service.asked()).toEqual([create]);
  });

  test('of the progress that throws ends it too', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const onProgress = () => {
      throw new Error('enough');
    };
    const source = streamOf(() => [content(3 * mib)], 3 * mib);
    expect(await failure(opened.client.videos.upload(source, fields, { onProgress }))).toMatchObject({
      message: 'enough',
    });
    expect(service.puts()[0]?.isComplete).toBe(false);
  });

  test('ends with what an asynchronous onProgress rejects with', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const refusal = new Error('the page was closed');
    const onProgress: () => unknown = async () => {
      throw refusal;
    };
    const source = streamOf(() => [content(2 * mib)], 2 * mib);
    expect(await failure(opened.client.videos.upload(source, fields, { onProgress }))).toBe(refusal);
  });

  test('ends when it is aborted, also while an asynchronous onProgress hangs', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const stop = new AbortController();
    const onProgress: () => unknown = () => {
      stop.abort('enough');
      return new Promise(() => {});
    };
    const options = { onProgress, signal: stop.signal };
    const source = streamOf(() => [content(2 * mib)], 2 * mib);
    expect(await failure(opened.client.videos.upload(source, fields, options))).toMatchObject({ cause: 'enough' });
  });
});

describe('a PUT that failed', () => {
  const size = 3 * mib;
  const source = () => streamOf(() => [content(size)], size);
  const uploaded = { id: 'vid_1', sizeBytes: size, sha256: sha256(content(size)) };
  /** More than the kernel takes in for a server that does not read: it cannot have arrived whole. */
  const large = () =>
    streamOf(function* () {
      for (let at = 0; at < 32; at += 1) yield Buffer.alloc(mib);
    }, 32 * mib);
  const busy: Handler = takeAll(503);

  test.each<[string, Handler]>([
    ['was reset', resets],
    ['was answered 503', busy],
    ['was answered 200 too early', (_, response) => response.writeHead(200).end()],
    ['was answered 429', takeAll(429)],
  ])('because it %s is repeated from a new stream while the video is pending', async (_, first) => {
    await using service = await startTinyService({ puts: [first, takeAll()] });
    await using opened = openClient(service.baseUrl);
    const given = source();
    expect(await opened.client.videos.upload(given, fields)).toEqual(uploaded);
    expect(service.asked()).toEqual([create, 'PUT', look, 'PUT']);
    expect(service.puts()[1]).toMatchObject({ bytes: size, isComplete: true });
    expect(new Set(service.puts().map(({ url }) => url)).size).toBe(1);
    expect(given.opened).toHaveLength(2);
    expect(given.opened.every((stream) => stream.destroyed)).toBe(true);
    expect(opened.sleeps).toEqual([500]);
  });

  test('is given up after as many repetitions as are allowed', async () => {
    await using service = await startTinyService({ puts: [resets] });
    await using opened = openClient(service.baseUrl);
    expect(await failure(opened.client.videos.upload(large(), fields))).toBeInstanceOf(ConnectionError);
    expect(service.asked()).toEqual([create, 'PUT', look, 'PUT', look, 'PUT']);
    expect(await failure(opened.client.videos.upload(large(), fields, { maxRetries: 0 }))).toBeInstanceOf(
      ConnectionError,
    );
    expect(service.asked().slice(6)).toEqual([create, 'PUT']);
  });

  test.each(['processing', 'ready', 'transcoding'])(
    'only by its answer is found to have arrived: %s',
    async (status) => {
      await using service = await startTinyService({ puts: [losesAnswer], statuses: [status] });
      await using opened = openClient(service.baseUrl);
      expect(await opened.client.videos.upload(source(), fields)).toEqual(uploaded);
      expect(await opened.client.videos.upload(source(), fields, { maxRetries: 0 })).toEqual(uploaded);
      expect(service.asked()).toEqual([create, 'PUT', look, create, 'PUT', look]);
    },
  );

  test('only by its answer is found to be no good', async () => {
    const failed = { status: 'failed', error: { code: 'bad', message: 'no codec' } };
    await using service = await startTinyService({ puts: [losesAnswer], statuses: [failed] });
    await using opened = openClient(service.baseUrl);
    const error = await failure(opened.client.videos.upload(source(), fields));
    expect(error).toBeInstanceOf(VideoFailedError);
    expect(error).toMatchObject({ videoId: 'vid_1', reason: 'no codec' });
  });

  test.each([409, 403, 404, 410])('and whose repetition is answered %i had arrived', async (status) => {
    await using service = await startTinyService({
      puts: [losesAnswer, takeAll(status)],
      statuses: ['pending', 'processing'],
    });
    await using opened = openClient(service.baseUrl);
    expect(await opened.client.videos.upload(source(), fields)).toEqual(uploaded);
    expect(service.asked()).toEqual([create, 'PUT', look, 'PUT', look]);
  });

  test('and of which the service knows nothing is not sent more often than is allowed', async () => {
    await using service = await startTinyService({ puts: [losesAnswer] });
    await using opened = openClient(service.baseUrl);
    const once = { maxRetries: 0 };
    expect(await failure(opened.client.videos.upload(source(), fields, once))).toBeInstanceOf(ConnectionError);
    expect(service.asked()).toEqual([create, 'PUT', look]);
  });

  test('and whose repetition finds the address dead, and the video pending, is the end', async () => {
    await using service = await startTinyService({ puts: [losesAnswer, takeAll(410)] });
    await using opened = openClient(service.baseUrl);
    expect(await failure(opened.client.videos.upload(source(), fields))).toBeInstanceOf(AddressDeadError);
    expect(service.asked()).toEqual([create, 'PUT', look, 'PUT', look]);
  });

  test('with 417, because of its Expect, is sent again without it', async () => {
    const onExpect: Handler = (request, response) => {
      request.once('data', () => response.writeHead(417, { connection: 'close' }).end());
      request.resume();
    };
    await using service = await startTinyService({ onExpect });
    await using opened = openClient(service.baseUrl);
    const given = source();
    expect(await opened.client.videos.upload(given, fields)).toEqual(uploaded);
    expect(service.puts().map(({ headers }) => headers.expect)).toEqual(['100-continue', undefined]);
    expect(given.opened.map((stream) => stream.destroyed)).toEqual([true, true]);
  });

  test('while the service has a file that cannot be ours is a conflict', async () => {
    await using service = await startTinyService({ puts: [resets], statuses: ['processing'] });
    await using opened = openClient(service.baseUrl);
    expect(await failure(opened.client.videos.upload(large(), fields))).toBeInstanceOf(UploadConflictError);
    expect(service.puts()).toHaveLength(1);
  });

  test.each([
    [403, AddressDeadError],
    [404, AddressDeadError],
    [410, AddressDeadError],
    [413, UploadRejectedError],
    [422, UploadRejectedError],
    [307, RedirectError],
  ])('with %i is not repeated', async (status, Kind) => {
    await using elsewhere = await startHost(takeAll());
    const refuse: Handler = (_, response) =>
      response.writeHead(status, { location: `${elsewhere.origin}/steal`, connection: 'close' }).end();
    await using service = await startTinyService({ puts: [refuse], onExpect: refuse });
    await using opened = openClient(service.baseUrl);
    expect(await failure(opened.client.videos.upload(source(), fields))).toBeInstanceOf(Kind);
    expect(service.asked()).toEqual([create, 'PUT']);
    expect(elsewhere.seen).toEqual([]);
  });

  test('is repeated not before the time the service asks for, if that is allowed', async () => {
    const later =
      (seconds: number): Handler =>
      (_, response) =>
        response.writeHead(503, { 'retry-after': String(seconds), connection: 'close' }).end();
    await using service = await startTinyService({ puts: [later(30), takeAll(), later(90)] });
    await using opened = openClient(service.baseUrl);
    await opened.client.videos.upload(source(), fields);
    expect(opened.sleeps).toEqual([30_000]);
    const error = await failure(opened.client.videos.upload(source(), fields));
    expect(error).toBeInstanceOf(UploadServerError);
    expect(error).toMatchObject({ status: 503, retryAfterMs: 90_000 });
  });

  test('because nothing moved is broken off, and repeated', async () => {
    await using service = await startTinyService({ puts: [() => {}] });
    await using opened = openClient(service.baseUrl);
    const big = 64 * mib;
    const given = streamOf(function* () {
      for (let at = 0; at < big; at += mib) yield Buffer.alloc(mib);
    }, big);
    const options = { stallTimeoutMs: 1000, maxRetries: 1 };
    expect(await failure(opened.client.videos.upload(given, fields, options))).toBeInstanceOf(UploadStalledError);
    expect(service.asked()).toEqual([create, 'PUT', look, 'PUT']);
    expect(given.opened.every((stream) => stream.destroyed)).toBe(true);
  });
});

describe('a source', () => {
  test('that stalls is cut like a stalled connection', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const given = streamOf(async function* () {
      yield Buffer.from('abc');
      await new Promise(() => {});
    }, 4);
    const options = { stallTimeoutMs: 100, maxRetries: 0 };
    expect(await failure(opened.client.videos.upload(given, fields, options))).toBeInstanceOf(UploadStalledError);
  });

  test.each([
    ['has less', 4, /"clip.mp4" ends after 3 of 4 bytes/],
    ['has more', 2, /"clip.mp4" has more than 2 bytes/],
    ['has something where nothing was said to be', 0, /"clip.mp4" has more than 0 bytes/],
  ])('that %s than was said never arrives whole', async (_, sizeBytes, message) => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const error = await failure(
      opened.client.videos.upload(
        streamOf(() => ['abc'], sizeBytes),
        fields,
      ),
    );
    expect(error).toBeInstanceOf(FileChangedError);
    expect(error.message).toMatch(message);
    expect(service.puts().filter(({ isComplete }) => isComplete)).toEqual([]);
  });

  test.each<[string, StreamSource['open'], RegExp]>([
    ['breaks', () => Readable.from(breaking()), /"clip.mp4" cannot be read: EIO/],
    ['gives no bytes', () => Readable.from([{ an: 'object' }]), /"clip.mp4" yields something other than bytes/],
    [
      'cannot be opened',
      () => {
        throw Object.assign(new Error('no'), { code: 'EACCES' });
      },
      /"clip.mp4" cannot be read: EACCES/,
    ],
    [
      'cannot be opened later',
      () => Promise.reject(Object.assign(new Error('no'), { code: 'EMFILE' })),
      /"clip.mp4" cannot be read: EMFILE/,
    ],
    ['is none', () => ['abcd'] as unknown as Readable, /"clip.mp4" yields something other than bytes/],
  ])('that %s ends the upload', async (_, open, message) => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const error = await failure(opened.client.videos.upload({ name: 'clip.mp4', sizeBytes: 4, open }, fields));
    expect(error).toBeInstanceOf(FileUnreadableError);
    expect(error.message).toMatch(message);
  });

  test('that is told to end, and does not, is not awaited', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const stop = new AbortController();
    const ended = Promise.withResolvers<void>();
    const open = () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => (stop.abort(), new Promise<never>(() => {})),
        return: () => (ended.resolve(), new Promise<never>(() => {})),
      }),
    });
    const options = { signal: stop.signal };
    const source = { name: 'clip.mp4', sizeBytes: 4, open };
    expect(await failure(opened.client.videos.upload(source, fields, options))).toBeInstanceOf(AbortedError);
    await ended.promise;
  });

  test('that is opened after the end is closed at once', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const late = Promise.withResolvers<Readable>();
    const stop = new AbortController();
    const open = () => (stop.abort(), late.promise);
    const source = { name: 'clip.mp4', sizeBytes: 4, open };
    const options = { signal: stop.signal };
    expect(await failure(opened.client.videos.upload(source, fields, options))).toBeInstanceOf(AbortedError);
    const stream = new Readable({ read: () => undefined });
    const closed = new Promise((resolve) => stream.once('close', resolve));
    late.resolve(stream);
    await closed;
  });

  function* breaking(): Generator<Buffer> {
    yield Buffer.from('ab');
    throw Object.assign(new Error('spot'), { code: 'EIO' });
  }

  test('that gives other bytes the second time is not sent whole a second time', async () => {
    await using service = await startTinyService({ puts: [losesAnswer, takeAll()] });
    await using opened = openClient(service.baseUrl);
    let turn = 0;
    const given = streamOf(() => [`abc${(turn += 1)}`], 4);
    const error = await failure(opened.client.videos.upload(given, fields));
    expect(error).toMatchObject({ name: 'FileChangedError', message: '"clip.mp4" gave different bytes than before' });
    expect(service.puts().map(({ isComplete }) => isComplete)).toEqual([true, false]);
  });

  test('that is a file which is modified or replaced in the meantime is not sent', async () => {
    await using service = await startTinyService({ puts: [resets, takeAll()] });
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(2 * mib));
    const grows = { onCreated: () => appendFileSync(path, 'x') };
    expect(await failure(opened.client.videos.upload(path, fields, grows))).toBeInstanceOf(FileChangedError);
    expect(service.puts()).toEqual([]);

    const other = await folder.write('other.mp4', content(2 * mib));
    let isReplaced = false;
    const replaced = {
      onProgress: () => {
        if (!isReplaced) renameSync(other, path);
        isReplaced = true;
      },
    };
    expect(await failure(opened.client.videos.upload(path, fields, replaced))).toBeInstanceOf(FileChangedError);
    expect(service.puts().filter(({ isComplete }) => isComplete)).toEqual([]);
  });
});

describe('the end of an upload', () => {
  test('comes with the signal, in the middle of the body', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const stop = new AbortController();
    const given = streamOf(() => [content(8 * mib)], 8 * mib);
    const options = { signal: stop.signal, onProgress: () => stop.abort() };
    expect(await failure(opened.client.videos.upload(given, fields, options))).toBeInstanceOf(AbortedError);
    expect(given.opened.every((stream) => stream.destroyed)).toBe(true);
    expect(service.asked()).toEqual([create, 'PUT']);
  });

  test('comes with that of the client, which waits for it', async () => {
    await using service = await startTinyService({ puts: [() => {}] });
    const opened = openClient(service.baseUrl);
    const { promise: isUnderWay, resolve } = Promise.withResolvers<void>();
    const given = streamOf(() => [content(64 * mib)], 64 * mib);
    const upload = failure(opened.client.videos.upload(given, fields, { onProgress: () => resolve() }));
    await isUnderWay;
    await opened.client[Symbol.asyncDispose]();
    expect(await upload).toBeInstanceOf(AbortedError);
    expect(await failure(opened.client.feeds.list())).toBeInstanceOf(AbortedError);
  });
});

describe('the headers of an upload', () => {
  const mismatch = '<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code><Message>No.</Message></Error>';
  const signed: Handler = (request, response, seen) => {
    request.resume();
    const isWithout = seen.headers['content-type'] === undefined;
    request.on('end', () => response.writeHead(isWithout ? 200 : 403).end(isWithout ? '' : mismatch));
  };

  test('are those of the create answer, and those of the caller', async () => {
    const asked = { 'X-Upload-Token': 'tok_0123456789', 'Content-Type': 'application/x', Host: 'evil', Cookie: 'a=b' };
    await using service = await startTinyService({ created: { upload_headers: asked } });
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(10));
    const createdVideo = await opened.client.videos.create(fields);
    expect(createdVideo.uploadHeaders).toEqual({ 'x-upload-token': 'tok_0123456789', 'content-type': 'application/x' });
    await opened.client.videos.send(path, createdVideo);
    await opened.client.videos.send(path, createdVideo, { headers: { 'X-Own': '1' }, contentType: null });
    const [first, second] = service.puts().map(({ headers }) => headers);
    expect(first).toMatchObject({ 'x-upload-token': 'tok_0123456789', 'content-type': 'application/x' });
    expect(first).not.toHaveProperty('cookie');
    expect(first?.host).toBe(new URL(service.host.origin).host);
    expect(second).toMatchObject({ 'x-upload-token': 'tok_0123456789', 'x-own': '1' });
    expect(second).not.toHaveProperty('content-type');
  });

  test('never give the key to an origin that may not have it', async () => {
    await using service = await startTinyService();
    const asked = { authorization: `Bearer ${apiKey}`, 'x-copy': `k=${apiKey};`, 'x-other': 'fine' };
    const created = { id: 'vid_1', uploadUrl: service.host.origin + uploadPath, uploadHeaders: asked };
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(10));
    await using stranger = openClient('http://127.0.0.1:1/v1');
    await stranger.client.videos.send(path, created, { askAfterFailure: false });
    await using trusted = openClient('http://127.0.0.1:1/v1', { sendKeyTo: [service.host.origin] });
    await trusted.client.videos.send(path, created, { askAfterFailure: false });
    const [first, second] = service.puts().map(({ headers }) => headers);
    expect(first).toMatchObject({ 'x-other': 'fine' });
    expect(JSON.stringify(first)).not.toContain(apiKey);
    expect(second).toMatchObject(asked);
  });

  test('are in no error, although the host echoes them', async () => {
    const secret = 'tok_0123456789abcdef';
    const echoes: Handler = (request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(422).end(`bad header Bearer ${secret} or "${secret}"`));
    };
    await using service = await startTinyService({ puts: [echoes] });
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    const created = {
      id: 'vid_1',
      uploadUrl: service.host.origin + uploadPath,
      uploadHeaders: { 'x-token': `Token=${secret}` },
    };
    const error = await failure(opened.client.videos.send(await folder.write('clip.mp4', content(10)), created));
    expect(error).toMatchObject({ name: 'UploadRejectedError' });
    expect(`${error.message} ${String(error.cause)}`).not.toContain(secret);
  });

  test('of a host that signs without a content type cost it one refused PUT, once', async () => {
    await using service = await startTinyService({ puts: [signed] });
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(2 * mib));
    for (let n = 0; n < 3; n += 1) {
      const created = { id: 'vid_1', uploadUrl: `${service.host.origin}/u/${n}` };
      const hashes: string[] = [];
      const beforeLastPart = async (hash: string) => void hashes.push(hash);
      await opened.client.videos.send(path, created, { askAfterFailure: false, beforeLastPart });
      expect(new Set(hashes)).toEqual(new Set([sha256(content(2 * mib))]));
    }
    const types = service.puts().map(({ url, headers }) => [url, headers['content-type']]);
    expect(types).toEqual([
      ['/u/0', 'video/mp4'],
      ['/u/0', undefined],
      ['/u/1', undefined],
      ['/u/2', undefined],
    ]);
    expect(service.asked()).not.toContain(look);
  });

  test('are learned by uploads that began together, at the cost of one refused PUT', async () => {
    await using service = await startTinyService({ puts: [signed] });
    await using client = createVideoClient({ baseUrl: service.baseUrl, apiKey, proxyEnv: {} });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(2 * mib));
    const send = (n: number) =>
      client.videos.send(path, { id: 'vid_1', uploadUrl: `${service.host.origin}/u/${n}` }, { askAfterFailure: false });
    await Promise.all(Array.from({ length: 8 }, (_, n) => send(n)));
    expect(service.puts()).toHaveLength(9);
    await send(8);
    expect(service.puts().at(-1)?.headers).not.toHaveProperty('content-type');
  });

  test('of a stream are tried with a new stream', async () => {
    await using service = await startTinyService({ puts: [signed] });
    await using opened = openClient(service.baseUrl);
    const source = streamOf(() => [content(10)], 10);
    await opened.client.videos.upload(source, fields);
    expect(source.opened).toHaveLength(2);
    expect(service.puts().map(({ bytes }) => bytes)).toEqual([10, 10]);
  });

  test('are tried once more, not for ever, at a host that refuses all', async () => {
    const never: Handler = (request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(403).end(mismatch));
    };
    await using service = await startTinyService({ puts: [never] });
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(10));
    const created = { id: 'vid_1', uploadUrl: service.host.origin + uploadPath };
    for (const puts of [2, 3, 4]) {
      expect(await failure(opened.client.videos.send(path, created))).toBeInstanceOf(AddressDeadError);
      expect(service.puts()).toHaveLength(puts);
    }
  });

  test('that no request can carry are refused before anything is sent', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(10));
    const created = { id: 'vid_1', uploadUrl: service.host.origin + uploadPath };
    for (const options of [{ headers: { 'Content-Length': '3' } }, { contentType: 'a\nb' }])
      await expect(opened.client.videos.send(path, created, options)).rejects.toThrow(TypeError);
    expect(service.host.seen).toEqual([]);
  });
});

describe('a program that keeps its own books', () => {
  const own = { askAfterFailure: false } as const;

  test('gets the failure of the one PUT at once, and no other request is made', async () => {
    await using service = await startTinyService({ puts: [losesAnswer, takeAll()] });
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    const created = { id: 'vid_1', uploadUrl: service.host.origin + uploadPath };
    const sent = opened.client.videos.send(await folder.write('clip.mp4', content(10)), created, own);
    expect(await failure(sent)).toMatchObject({ name: 'ConnectionError', sent: true });
    expect(service.host.seen.map(({ method }) => method)).toEqual(['PUT']);
    expect(opened.sleeps).toEqual([]);
  });

  test('writes the hash down before the last part leaves; if it cannot, no complete file arrives', async () => {
    await using service = await startTinyService({ puts: [takeAll()] });
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(3 * mib));
    const created = { id: 'vid_1', uploadUrl: service.host.origin + uploadPath };
    const hashes: string[] = [];
    const beforeLastPart = async (hash: string): Promise<void> => {
      hashes.push(hash);
      throw new Error('the disk is full');
    };
    const sent = opened.client.videos.send(path, created, { beforeLastPart });
    expect((await failure(sent)).message).toBe('the disk is full');
    expect(hashes).toEqual([sha256(content(3 * mib))]);
    expect(service.puts()).toMatchObject([{ isComplete: false }]);
  });

  test('gives a source of its own that is read by position, confirmed once and disposed of', async () => {
    await using service = await startTinyService({ puts: [takeAll()] });
    await using opened = openClient(service.baseUrl);
    const bytes = content(2 * mib + 5);
    const calls: string[] = [];
    const openReader = async () => ({
      read: async (position: number, into: Buffer) => void bytes.copy(into, 0, position),
      confirm: async (hash: string) => void calls.push(hash),
      [Symbol.asyncDispose]: async () => void calls.push('disposed'),
    });
    const source = { name: 'clip.mkv', sizeBytes: bytes.length, openReader };
    const { sha256: hash } = await opened.client.videos.upload(source, fields);
    expect(hash).toBe(sha256(bytes));
    expect(calls).toEqual([hash, 'disposed']);
    expect(service.puts()).toMatchObject([{ bytes: bytes.length, headers: { 'content-type': 'video/x-matroska' } }]);
  });

  test.for([
    { became: 'longer', bytes: content(3 * mib + 1) },
    { became: 'shorter', bytes: content(2 * mib) },
  ])('sends nothing of an open file that became $became since its size was asked', async ({ bytes }) => {
    await using service = await startTinyService({ puts: [takeAll()] });
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', bytes);
    const source = {
      name: 'clip.mp4',
      sizeBytes: 3 * mib,
      openReader: async () => readOpenFile(await open(path), path),
    };
    const created = { id: 'vid_1', uploadUrl: service.host.origin + uploadPath };
    expect(await failure(opened.client.videos.send(source, created, own))).toMatchObject({ code: 'file_changed' });
    expect(service.puts()).toEqual([]);
  });

  test('never sends what was in memory before, when its source fills less than it was asked for', async () => {
    const received: Buffer[] = [];
    await using service = await startTinyService({
      puts: [
        (request, response) => {
          request.on('data', (chunk: Buffer) => received.push(chunk));
          request.on('end', () => response.end());
          request.resume();
        },
      ],
    });
    await using opened = openClient(service.baseUrl);
    const openReader = async () => ({
      read: async () => {},
      confirm: async () => {},
      [Symbol.asyncDispose]: async () => {},
    });
    const allocate = vi.spyOn(Buffer, 'allocUnsafeSlow').mockImplementation((size) => Buffer.alloc(size, 'secret'));
    try {
      await opened.client.videos.upload({ name: 'clip.mp4', sizeBytes: 5000, openReader }, fields);
    } finally {
      allocate.mockRestore();
    }
    expect(Buffer.concat(received).equals(Buffer.alloc(5000))).toBe(true);
  });

  test('is not waited for when it opens a source after the call was aborted; what it opens then is disposed of', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const stop = new AbortController();
    const opening = Promise.withResolvers<BodyReader>();
    const disposed = Promise.withResolvers<void>();
    const source = { name: 'clip.mp4', sizeBytes: 3, openReader: () => opening.promise };
    const created = { id: 'vid_1', uploadUrl: service.host.origin + uploadPath };
    const sent = opened.client.videos.send(source, created, { signal: stop.signal });
    setImmediate(() => stop.abort());
    expect(await failure(sent)).toBeInstanceOf(AbortedError);
    opening.resolve({
      read: async () => {},
      confirm: async () => {},
      [Symbol.asyncDispose]: async () => disposed.resolve(),
    });
    await disposed.promise;
    expect(service.puts()).toEqual([]);
  });
});
