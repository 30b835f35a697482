import { createReadStream, openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

import { FileUnreadableError, UploadError } from '../../packages/client/src/errors.ts';
import type { UploadSource } from '../../packages/client/src/video-client.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { content, sha256 } from './bytes.ts';
import { failure, openClient } from './open-client.ts';
import { resets, startTinyService } from './tiny-service.ts';
import { takeAll } from './upload-host.ts';

const bytes = Buffer.from(content(2 * 1024 * 1024 + 7));
const named = { name: 'clip.mp4', sizeBytes: bytes.length };
const fields = { title: 'T' };

const sources: readonly [what: string, source: () => UploadSource, type: string][] = [
  ['a Buffer', () => bytes, 'application/octet-stream'],
  ['a Uint8Array', () => new Uint8Array(bytes), 'application/octet-stream'],
  ['a Blob', () => new Blob([bytes]), 'application/octet-stream'],
  ['a File', () => new File([bytes], 'clip.mov'), 'video/quicktime'],
  [
    'a stream of Node',
    () => ({ ...named, stream: Readable.from([bytes.subarray(0, 9), bytes.subarray(9)]) }),
    'video/mp4',
  ],
  ['a stream of Fetch', () => ({ ...named, stream: new Blob([bytes]).stream() }), 'video/mp4'],
];

describe('a source', () => {
  test.each(sources)('may be %s', async (_, source, type) => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const uploaded = await opened.client.videos.upload(source(), fields);
    expect(uploaded).toEqual({ id: 'vid_1', sizeBytes: bytes.length, sha256: sha256(bytes) });
    expect(service.puts()).toMatchObject([
      { bytes: bytes.length, isComplete: true, headers: { 'content-type': type } },
    ]);
  });

  test.each([{ size: Number.NaN }, { size: 1.5 }, { size: -1 }, { size: Infinity }, { size: 3, name: 7 }])(
    'cannot be a blob with %o: no record is created',
    async (wrong) => {
      await using service = await startTinyService();
      await using opened = openClient(service.baseUrl);
      const blob = new Blob(['abc']);
      const given = { slice: () => blob, arrayBuffer: () => blob.arrayBuffer(), ...wrong } as Blob;
      expect(await failure(opened.client.videos.upload(given, fields))).toBeInstanceOf(TypeError);
      expect(opened.requests).toEqual([]);
    },
  );

  test('may be a file: URL, also with letters that URLs escape', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    await folder.write('Höhe 1.mp4', 'abc');
    await opened.client.videos.upload(pathToFileURL(join(folder.path, 'Höhe 1.mp4')), fields);
    expect(service.puts()).toMatchObject([{ bytes: 3, headers: { 'content-type': 'video/mp4' } }]);
  });

  test('in memory is sent again after a broken connection', async () => {
    await using service = await startTinyService({ puts: [resets, takeAll()] });
    await using opened = openClient(service.baseUrl);
    expect(await opened.client.videos.upload(bytes, fields)).toMatchObject({ sha256: sha256(bytes) });
    expect(service.puts().map(({ isComplete }) => isComplete)).toEqual([false, true]);
  });

  test('that is an open stream is sent again if nothing was read of it', async () => {
    await using service = await startTinyService({
      onExpect: (request, response) => {
        if (service.puts().length > 1) {
          response.writeContinue();
          return takeAll()(request, response, service.host.seen[0]!);
        }
        response.writeHead(503).end();
      },
    });
    await using opened = openClient(service.baseUrl);
    const stream = Readable.from([bytes]);
    expect(await opened.client.videos.upload({ ...named, stream }, fields)).toMatchObject({ sha256: sha256(bytes) });
    expect(service.puts()).toHaveLength(2);
  });

  test('that is an open stream cannot be sent again, which the error says', async () => {
    await using service = await startTinyService({ puts: [resets] });
    await using opened = openClient(service.baseUrl);
    const error = await failure(opened.client.videos.upload({ ...named, stream: Readable.from([bytes]) }, fields));
    expect(error).toBeInstanceOf(FileUnreadableError);
    expect(error).toMatchObject({ code: 'stream_used', message: expect.stringContaining('cannot be read twice') });
  });

  test('that is a stream of a missing file fails the upload, and not the process', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const stream = createReadStream('/nowhere/clip.mp4');
    const error = await failure(opened.client.videos.upload({ ...named, stream }, fields));
    expect(error).toMatchObject({ name: 'FileUnreadableError', code: 'ENOENT' });
  });

  test('that is a Blob of a file that changed is not sent', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', bytes);
    const blob = await openAsBlob(path);
    await folder.write('clip.mp4', 'other');
    expect(await failure(opened.client.videos.upload(blob, fields))).toBeInstanceOf(FileUnreadableError);
    expect(service.puts().filter(({ isComplete }) => isComplete)).toEqual([]);
  });

  test('in memory that becomes shorter is not sent', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const buffer = new ArrayBuffer(8);
    const onCreated = (): void => void structuredClone(buffer, { transfer: [buffer] });
    const error = await failure(opened.client.videos.upload(new Uint8Array(buffer), fields, { onCreated }));
    expect(error).toBeInstanceOf(UploadError);
    expect(service.puts().filter(({ isComplete }) => isComplete)).toEqual([]);
  });

  test.each<[unknown, RegExp]>([
    [new URL('https://a.example.com/clip.mp4'), /^only file: URLs can be uploaded; .*videos\.import/],
    [Readable.from([]), /^a stream needs its length: the source must be a path/],
    [new ReadableStream(), /^a stream needs its length/],
    [{ name: 'clip.mp4', sizeBytes: 1 }, /^the source must be .* open, openReader or stream$/],
    [null, /^the source must be/],
    [undefined, /^the source must be/],
    [7, /^the source must be/],
  ])('is refused before a record exists: %#', async (source, message) => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl);
    const error = await failure(opened.client.videos.upload(source as UploadSource, fields));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(message);
    expect(service.asked()).toEqual([]);
  });
});
