import { open } from 'node:fs/promises';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import type {
  SendCallOptions,
  UploadedVideo,
  UploadSession,
  UploadSource,
} from '../../packages/client/src/video-client.ts';
import { readOpenFile } from '@dropcast/client';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';
import { admin } from './admin-side.ts';
import { content, sha256 } from './bytes.ts';
import { failure, openClient } from './open-client.ts';
import { startResumableHost } from './resumable-host.ts';
import type { Fault, HostScript, ResumableHost } from './resumable-host.ts';
import { startTinyService } from './tiny-service.ts';

const mib = 1024 * 1024;
const sizeBytes = 3 * mib + 12_345;
const bytes = content(sizeBytes);
const last = sizeBytes - mib;
const half = Math.floor(sizeBytes / 2);
const profiles = [
  ['resumable-sessions', 'content-range'],
  ['tus', 'tus'],
] as const;
const protocols = ['content-range', 'tus'] as const;

/** Breaks the first request that sends a body: a host that speaks tus refuses the PUT before. */
const cutAt = (share: number, protocol: UploadSession['protocol']) => ({
  kind: 'reset',
  operation: 'uploads.put',
  of: 'request',
  after_bytes: Math.floor(sizeBytes * share),
  nth: protocol === 'tus' ? 2 : 1,
});

describe.each(profiles)('a sandbox with the profile %s', (profile, protocol) => {
  test.each([0.1, 0.5, 0.9, 0.99])('gets the whole file after an upload broke off at %f', async (share) => {
    await using running = await runSandbox({ profile });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', bytes);
    await admin(running.sandbox, 'PUT', '/faults', [cutAt(share, protocol)]);
    await using opened = openClient(running.sandbox.baseUrl, { apiKey: running.sandbox.apiKey });
    const sessions: UploadSession[] = [];
    const uploaded = await opened.client.videos.upload(
      path,
      { title: 'T' },
      { onSession: (session) => void sessions.push(session) },
    );
    expect(uploaded.sha256).toBe(sha256(bytes));
    expect(running.sandbox.files()).toEqual([{ videoId: uploaded.id, sizeBytes, sha256: sha256(bytes) }]);
    expect(sessions.every((session) => session.protocol === protocol)).toBe(true);
    const resumed = Math.max(...sessions.map(({ offset }) => offset));
    expect(resumed).toBeGreaterThan(0);
    expect(sessions.every(({ offset, reach }) => offset <= reach)).toBe(true);
    const video = await opened.client.videos.get(uploaded.id);
    expect(video.status).not.toBe('pending');
  });
});

/** A host, a file, and what was committed about its upload. */
class Upload implements AsyncDisposable {
  readonly host: ResumableHost;
  readonly path: string;
  readonly sessions: UploadSession[] = [];
  readonly hashes: string[] = [];
  /** Number of bytes that may be on the host. */
  reach = 0;
  /** Moments at which the host had more. */
  readonly excesses: string[] = [];
  readonly #folder: AsyncDisposable;

  constructor(host: ResumableHost, path: string, folder: AsyncDisposable) {
    this.host = host;
    this.path = path;
    this.#folder = folder;
    host.onBytes = (kept) => {
      if (kept > this.reach) this.excesses.push(`${kept} bytes with a reach of ${this.reach}`);
    };
  }

  /** Sends the file as another process would, with what was committed. */
  async send(
    options: SendCallOptions = {},
    source: UploadSource = this.path,
    onSleep = () => {},
  ): Promise<UploadedVideo> {
    await using opened = openClient(this.host.baseUrl, { onSleep });
    return await opened.client.videos.send(
      source,
      { id: 'vid_1', uploadUrl: this.host.uploadUrl },
      { ...this.#options(), ...options },
    );
  }

  /** Sends the file once, and expects that this fails. */
  fails(options: SendCallOptions = {}, source?: UploadSource): Promise<Error> {
    return failure(this.send({ askAfterFailure: false, ...options }, source));
  }

  #options(): SendCallOptions {
    const session = this.sessions.at(-1);
    return {
      session: session === undefined ? null : { ...session, reach: this.reach },
      // Something that is not awaited comes too late here.
      onSession: async (next) => {
        for (let n = 0; n < 20; n += 1) await turn();
        this.sessions.push(next);
        if (Number.isFinite(this.reach)) this.reach = next.reach;
      },
      beforeLastPart: async (hash) => {
        for (let n = 0; n < 20; n += 1) await turn();
        this.hashes.push(hash);
        this.reach = Number.POSITIVE_INFINITY;
      },
    };
  }

  /** @throws if the host has another file, or ever had bytes that were not committed */
  requireArrived(expected = bytes): void {
    expect(sha256(this.host.kept)).toBe(sha256(expected));
    expect(this.excesses).toEqual([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }
}

async function begin(script: HostScript, file = bytes): Promise<Upload> {
  const folder = await scratchDirectory();
  return new Upload(await startResumableHost(file.length, script), await folder.write('clip.mp4', file), folder);
}

/** An upload of which the host has half, and whose process has ended. */
async function broken(protocol: UploadSession['protocol']): Promise<Upload> {
  const upload = await begin({ protocol });
  upload.host.deliveries = [{ kind: 'cut', afterBytes: half }];
  const beforeLastPart = async () => {
    // The kernel takes much more than the host has read.
    await until('half of the file on the host', () => upload.host.kept.length === half);
    throw new Error('the process ends here');
  };
  await upload.fails({ protocol, beforeLastPart });
  upload.host.asked.length = 0;
  expect(upload.host.kept.length).toBe(half);
  return upload;
}

const answers = (status: number, headers?: Record<string, string>, body?: string): Fault => ({
  kind: 'answer',
  status,
  ...(headers && { headers }),
  ...(body !== undefined && { body }),
});

/** The answer of a host that says that it has so many bytes. */
function claims(protocol: UploadSession['protocol'], offset: number): Fault {
  if (protocol === 'tus') return answers(200, { 'upload-offset': String(offset), 'upload-length': String(sizeBytes) });
  return offset === sizeBytes ? answers(200) : answers(308, { range: `bytes=0-${offset - 1}` });
}

/** Writes other bytes, and gives the file its old modification time. */
function overwriteSecretly(path: string, other: Buffer): void {
  const { atime, mtime } = statSync(path);
  writeFileSync(path, other);
  utimesSync(path, atime, mtime);
}

/** The file, without the client's own comparison between two attempts. */
const reopened = ({ path }: Upload): UploadSource => ({
  name: path,
  sizeBytes,
  openReader: async () => readOpenFile(await open(path), path),
});

const other = Buffer.from(bytes).fill(7);
const sends = (protocol: UploadSession['protocol'], offset: number) =>
  `${protocol === 'tus' ? 'PATCH' : 'PUT'} ${offset}`;

describe.each(protocols)('an upload in the protocol %s', (protocol) => {
  test.each([0.1, 0.5, 0.9, 0.99])('that broke off at %f sends no byte twice', async (share) => {
    await using upload = await begin({ protocol });
    const kept = Math.floor(sizeBytes * share);
    upload.host.deliveries = [{ kind: 'cut', afterBytes: kept }];
    const uploaded = await upload.send({ protocol });
    expect(uploaded.sha256).toBe(sha256(bytes));
    upload.requireArrived();
    expect(upload.host.bytesSeen).toBe(sizeBytes);
    expect(upload.host.asked.slice(-2)).toEqual(['ask', sends(protocol, kept)]);
  });

  test('that breaks again and again arrives', async () => {
    await using upload = await begin({ protocol });
    upload.host.deliveries = [1, 100_000, mib, 5, mib - 7].map((afterBytes) => ({ kind: 'cut', afterBytes }));
    await upload.send({ protocol, maxRetries: 5 });
    upload.requireArrived();
    expect(upload.host.bytesSeen).toBe(sizeBytes);
  });

  test('is continued by another process, and its hash is of the whole file', async () => {
    await using upload = await broken(protocol);
    expect(await upload.send()).toMatchObject({ sha256: sha256(bytes) });
    upload.requireArrived();
    expect(upload.host.asked).toEqual(['ask', sends(protocol, half)]);
    expect(upload.hashes).toEqual([sha256(bytes)]);
    expect(upload.sessions.at(-1)).toMatchObject({ protocol, offset: half });
  });

  test('whose answer was lost is not sent again', async () => {
    await using upload = await begin({ protocol });
    // The service has not noticed yet that the file arrived.
    upload.host.sizeBytes = sizeBytes;
    upload.host.deliveries = [{ kind: 'answer lost' }];
    expect(await upload.fails({ protocol })).toMatchObject({ name: 'ConnectionError' });
    upload.requireArrived();
    upload.host.asked.length = 0;
    expect(await upload.send({ session: { ...upload.sessions.at(-1)!, reach: sizeBytes } })).toMatchObject({
      sha256: sha256(bytes),
    });
    expect(upload.host.asked).toEqual(['ask']);
    expect(upload.hashes).toEqual([sha256(bytes), sha256(bytes)]);
  });

  test('of which the host has all is not believed if its last part was never committed', async () => {
    await using upload = await broken(protocol);
    upload.host.questions = [claims(protocol, sizeBytes)];
    expect(await upload.fails()).toMatchObject({ name: 'AddressDeadError', code: 'wrong_offset' });
    expect(upload.host.asked).toEqual(['ask']);
    expect(upload.hashes).toEqual([]);
  });

  test.each([last + 1, sizeBytes - 1])('of which the host claims %i bytes is not continued', async (claimed) => {
    await using upload = await broken(protocol);
    upload.host.questions = [claims(protocol, claimed)];
    const error = await upload.fails();
    // A session that has all bytes but the last one is as good as one that has none.
    expect(error).toMatchObject({ name: 'AddressDeadError', code: 'wrong_offset' });
    expect(upload.host.asked).toEqual(['ask']);
  });

  test.each(['touched', 'overwritten'])('of a file that was %s is not continued', async (how) => {
    await using upload = await broken(protocol);
    if (how === 'touched') utimesSync(upload.path, new Date(), new Date());
    else overwriteSecretly(upload.path, other);
    expect(await upload.fails()).toMatchObject({ name: 'AddressDeadError', code: 'file_touched' });
    expect(upload.host.asked).toEqual(['ask']);
    expect(upload.host.kept.length).toBe(half);
  });

  test('of a file that is overwritten between two attempts is not continued', async () => {
    await using upload = await begin({ protocol });
    upload.host.deliveries = [{ kind: 'cut', afterBytes: half }];
    const changing = upload.send({ protocol }, reopened(upload), () => overwriteSecretly(upload.path, other));
    expect(await failure(changing)).toMatchObject({ code: 'file_touched' });
    expect(upload.host.kept.equals(bytes.subarray(0, half))).toBe(true);
  });

  test('of a file that is overwritten right after it was opened gets no further bytes', async () => {
    await using upload = await broken(protocol);
    const { path } = upload;
    let isOpened = false;
    const openReader = async () => {
      const reader = await readOpenFile(await open(path), path);
      if (!isOpened) overwriteSecretly(path, other);
      isOpened = true;
      return reader;
    };
    expect(await upload.fails({}, { name: path, sizeBytes, openReader })).toMatchObject({ code: 'file_touched' });
    expect(upload.host.kept.equals(bytes.subarray(0, half))).toBe(true);
  });

  test('whose host forgot everything begins again, with whatever the file is now', async () => {
    await using upload = await broken(protocol);
    upload.host.kept = Buffer.alloc(0);
    overwriteSecretly(upload.path, other);
    expect(await upload.send()).toMatchObject({ sha256: sha256(other) });
    upload.requireArrived(other);
    expect(upload.host.asked).toEqual(['ask', sends(protocol, 0)]);
  });

  test('whose host gets bytes of the former version late is not continued', async () => {
    await using upload = await broken(protocol);
    const late = upload.host.kept;
    upload.host.kept = Buffer.alloc(0);
    overwriteSecretly(upload.path, other);
    upload.host.deliveries = [answers(409)];
    const sending = upload.send({}, reopened(upload), () => void (upload.host.kept = late));
    expect(await failure(sending)).toMatchObject({ code: 'file_touched' });
    expect(upload.host.kept.equals(bytes.subarray(0, half))).toBe(true);
  });

  test('whose host forgot a part continues there', async () => {
    await using upload = await broken(protocol);
    upload.host.kept = upload.host.kept.subarray(0, 1000);
    await upload.send();
    upload.requireArrived();
    expect(upload.host.asked).toEqual(['ask', sends(protocol, 1000)]);
  });

  test.each([
    [404, 'AddressDeadError'],
    [410, 'AddressDeadError'],
    [401, 'AddressDeadError'],
    [409, 'UploadConflictError'],
    [500, 'UploadServerError'],
    [503, 'UploadServerError'],
  ])('whose host answers %i to the question sends nothing', async (status, name) => {
    await using upload = await broken(protocol);
    upload.host.questions = [answers(status)];
    expect(await upload.fails()).toMatchObject({ name, status });
    expect(upload.host.asked).toEqual(['ask']);
    expect(upload.reach).toBe(last);
  });

  test.each([409, 500])('whose host answers %i to bytes asks again where it stands', async (status) => {
    await using upload = await broken(protocol);
    upload.host.deliveries = [answers(status)];
    await upload.send();
    upload.requireArrived();
    expect(upload.host.asked).toEqual(['ask', sends(protocol, half), 'ask', sends(protocol, half)]);
  });

  test('whose last part may not leave stays incomplete, and can be continued', async () => {
    await using upload = await begin({ protocol });
    const refusing = { protocol, beforeLastPart: () => Promise.reject(new Error('the disk is full')) };
    expect((await upload.fails(refusing)).message).toBe('the disk is full');
    expect(upload.host.kept.length).toBeLessThanOrEqual(last);
    expect(upload.excesses).toEqual([]);
    await upload.send({ protocol });
    upload.requireArrived();
  });

  test.each([0, 1])('whose session cannot be committed (call %i) sends nothing beyond', async (call) => {
    await using upload = await begin({ protocol });
    let calls = 0;
    const failing = async () => {
      if (calls++ === call) throw new Error('the disk is full');
    };
    expect((await upload.fails({ protocol, onSession: failing })).message).toBe('the disk is full');
    expect(upload.host.bytesSeen).toBe(0);
  });

  test.each(Array.from({ length: 8 }, (_, n) => n))('that is aborted at moment %i can be continued', async (moment) => {
    await using upload = await begin({ protocol });
    const stop = new AbortController();
    let moments = 0;
    const pass = () => {
      if (moments++ === moment) stop.abort();
    };
    await using opened = openClient(upload.host.baseUrl);
    const to = { id: 'vid_1', uploadUrl: upload.host.uploadUrl };
    const sessions: UploadSession[] = [];
    const aborted = await failure(
      opened.client.videos.send(upload.path, to, {
        protocol,
        signal: stop.signal,
        onSession: (session) => {
          sessions.push(session);
          upload.reach = session.reach;
          pass();
        },
        onProgress: pass,
        beforeLastPart: () => {
          upload.reach = sizeBytes;
          pass();
        },
      }),
    );
    expect(aborted.name).toBe('AbortedError');
    const { reach } = upload;
    const session = sessions.at(-1);
    await upload.send({ protocol, session: session === undefined ? null : { ...session, reach } });
    upload.requireArrived();
  });

  test.each([0, 1, mib - 1, mib, mib + 1])('of %i bytes arrives, and its last part after the commit', async (size) => {
    const small = content(size);
    small.fill(5, Math.max(0, size - 3));
    await using upload = await begin({ protocol }, small);
    if (size > 1) upload.host.deliveries = [{ kind: 'cut', afterBytes: 1 }];
    expect(await upload.send({ protocol })).toMatchObject({ sha256: sha256(small), sizeBytes: size });
    upload.requireArrived(small);
    expect(new Set(upload.hashes)).toEqual(new Set([sha256(small)]));
  });

  test('of a stream is not continued, because its bytes may be others', async () => {
    await using upload = await begin({ protocol });
    upload.host.deliveries = [{ kind: 'cut', afterBytes: half }];
    const source = { name: 'clip.mp4', sizeBytes, open: () => Readable.from([bytes]) };
    expect(await failure(upload.send({ protocol }, source))).toMatchObject({ code: 'file_touched' });
    expect(upload.host.kept.length).toBe(half);
  });

  test('of a stream begins again if the host has nothing', async () => {
    await using upload = await begin({ protocol });
    upload.host.deliveries = [answers(503)];
    const source = { name: 'clip.mp4', sizeBytes, open: () => Readable.from([bytes]) };
    await upload.send({ protocol }, source);
    upload.requireArrived();
  });

  test('ends when the host refuses it, although the file cannot be read', async () => {
    await using upload = await begin({ protocol });
    upload.host.deliveries = [answers(403)];
    const openReader = async () => ({
      read: (_: number, __: Buffer, signal: AbortSignal) =>
        new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
      confirm: async () => {},
      [Symbol.asyncDispose]: async () => {},
    });
    const error = await upload.fails({ protocol }, { name: 'clip.mp4', sizeBytes, openReader });
    expect(error).toMatchObject({ status: 403 });
  });
});

describe('a session of Google Cloud Storage', () => {
  test('is recognised by its address, and asked only after bytes may have left', async () => {
    await using upload = await begin({ protocol: 'content-range' });
    upload.host.deliveries = [{ kind: 'cut', afterBytes: half }];
    await upload.send();
    upload.requireArrived();
    expect(upload.host.asked).toEqual(['PUT 0', 'ask', `PUT ${half}`]);
  });

  test('is incomplete as long as it answers 308, even if it names all bytes', async () => {
    await using upload = await begin({ protocol: 'content-range' });
    const all = answers(308, { range: `bytes=0-${sizeBytes - 1}` });
    upload.host.deliveries = [{ kind: 'answer lost' }];
    upload.host.questions = [all];
    await upload.fails();
    expect(await upload.fails({ session: { ...upload.sessions.at(-1)!, reach: sizeBytes } })).toMatchObject({
      name: 'UploadServerError',
      code: 'incomplete_upload',
    });
  });

  test('that takes no byte is given up after a few attempts', async () => {
    await using upload = await begin({ protocol: 'content-range' });
    upload.host.deliveries = Array.from({ length: 20 }, () => answers(308));
    const error = await failure(upload.send({ maxRetries: 2 }));
    expect(error).toMatchObject({ name: 'UploadServerError', status: 308 });
    expect(error.message).not.toMatch(/redirect/);
    expect(upload.host.asked.filter((asked) => asked !== 'ask')).toHaveLength(3);
  });

  test('is not believed if a web page answers the question', async () => {
    await using upload = await broken('content-range');
    upload.host.questions = [answers(200, { 'content-type': 'text/html' }, '<!doctype html><title>Log in</title>')];
    expect(await upload.fails()).toMatchObject({ name: 'UnreadableAnswerError', code: 'web_page' });
    await upload.send();
    upload.requireArrived();
  });

  test.each([400, 411, 501])('that answers %i to the question gets the file from its first byte', async (status) => {
    await using upload = await broken('content-range');
    upload.host.questions = [answers(status)];
    await upload.send();
    upload.requireArrived();
    expect(upload.host.asked).toEqual(['ask', 'PUT 0']);
  });

  test('that answers 308 with a location redirects, which is not followed', async () => {
    await using upload = await begin({ protocol: 'content-range' });
    upload.host.deliveries = [answers(308, { location: 'https://other.example.com/' })];
    expect(await upload.fails()).toMatchObject({ name: 'RedirectError' });
  });
});

describe('a host of tus', () => {
  test('is recognised by its refusal of the PUT, and remembered', async () => {
    await using upload = await begin({ protocol: 'tus' });
    await using opened = openClient(upload.host.baseUrl);
    const to = { id: 'vid_1', uploadUrl: upload.host.uploadUrl };
    await opened.client.videos.send(upload.path, to);
    expect(upload.host.asked).toEqual(['PUT 0', 'ask', 'PATCH 0']);
    upload.host.kept = Buffer.alloc(0);
    upload.host.asked.length = 0;
    await opened.client.videos.send(upload.path, to);
    expect(upload.host.asked).toEqual(['ask', 'PATCH 0']);
  });

  test('behind a portal that answers the question keeps its bytes', async () => {
    await using upload = await broken('tus');
    upload.host.questions = [answers(200)];
    await upload.send();
    upload.requireArrived();
    expect(upload.host.asked.at(-1)).toBe(`PATCH ${half}`);
  });

  test.each([
    ['without an offset', {}],
    ['with a negative offset', { 'upload-offset': '-1' }],
    ['of a file of another size', { 'upload-offset': '5', 'upload-length': '6' }],
    ['beyond the file', { 'upload-offset': String(sizeBytes + 1), 'upload-length': String(sizeBytes) }],
  ])('that answers %s gets the same question later', async (_, headers) => {
    await using upload = await broken('tus');
    upload.host.questions = [answers(200, headers)];
    expect(await upload.fails()).toMatchObject({ name: 'UploadServerError', code: 'unreadable_answer' });
    expect(upload.host.asked).toEqual(['ask']);
  });
});

describe('a host that does not say how it receives files', () => {
  const unknown = { protocol: 'content-range', isSession: false } as const;

  test('gets the file again from its first byte, and no PUT without a body', async () => {
    await using upload = await begin(unknown);
    upload.reach = Number.POSITIVE_INFINITY;
    upload.host.deliveries = [
      { kind: 'cut', afterBytes: half },
      { kind: 'cut', afterBytes: half },
    ];
    await upload.send();
    upload.requireArrived();
    expect(upload.host.asked).toEqual(['PUT 0', 'PUT 0', 'PUT 0']);
    expect(upload.sessions).toEqual([]);
  });

  test('but answers 308 to a PUT gets the question, and the upload is continued', async () => {
    await using upload = await begin({ ...unknown, refusesSecondPut: true });
    upload.reach = Number.POSITIVE_INFINITY;
    upload.host.deliveries = [{ kind: 'cut', afterBytes: half }];
    await upload.send();
    upload.requireArrived();
    expect(upload.host.asked).toEqual(['PUT 0', 'PUT 0', 'ask', `PUT ${half}`]);
    expect(upload.sessions[0]).toMatchObject({ protocol: 'content-range', offset: half });
  });

  test('but kept bytes of another version of the file gets no further bytes', async () => {
    await using upload = await begin({ ...unknown, refusesSecondPut: true });
    upload.host.deliveries = [{ kind: 'cut', afterBytes: half }];
    const sending = upload.send({}, reopened(upload), () => overwriteSecretly(upload.path, other));
    expect(await failure(sending)).toMatchObject({ code: 'file_touched' });
    expect(upload.host.kept.equals(bytes.subarray(0, half))).toBe(true);
  });

  test('but has bytes that this process never sent is not believed', async () => {
    await using upload = await begin({ ...unknown, refusesSecondPut: true });
    upload.host.kept = Buffer.from(other.subarray(0, half));
    upload.host.deliveries = [claims('content-range', half)];
    expect(await failure(upload.send())).toMatchObject({ code: 'wrong_offset' });
    expect(upload.host.kept.equals(other.subarray(0, half))).toBe(true);
  });
});

describe('the protocol that the caller names', () => {
  test('put is not changed by 308', async () => {
    await using upload = await begin({ protocol: 'content-range', refusesSecondPut: true });
    upload.reach = Number.POSITIVE_INFINITY;
    upload.host.deliveries = [{ kind: 'cut', afterBytes: half }];
    expect(await failure(upload.send({ protocol: 'put', maxRetries: 2 }))).toMatchObject({ code: 'incomplete_upload' });
    expect(upload.host.asked).toEqual(['PUT 0', 'PUT 0', 'PUT 0']);
    expect(upload.sessions).toEqual([]);
  });

  test('put is not changed by an answer of tus', async () => {
    await using upload = await begin({ protocol: 'tus' });
    expect(await upload.fails({ protocol: 'put' })).toMatchObject({ status: 405 });
    expect(upload.host.asked).toEqual(['PUT 0']);
  });

  test('tus is not changed by a host that does not know HEAD', async () => {
    await using upload = await begin({ protocol: 'content-range' });
    upload.host.questions = [answers(405)];
    expect(await upload.fails({ protocol: 'tus' })).toMatchObject({ status: 405 });
    expect(upload.host.asked).toEqual(['ask']);
  });
});

test('a small file whose host refuses Expect during the commit does not become an empty one', async () => {
  const received: Buffer[] = [];
  const committed = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<void>();
  await using service = await startTinyService({
    puts: [
      (request, response) => {
        request.on('data', (chunk: Buffer) => received.push(chunk));
        request.on('end', () => response.writeHead(200).end());
        request.resume();
      },
    ],
    onExpect: (request, response) => {
      request.resume();
      // The client no longer waits for 100 Continue.
      void committed.promise.then(() => response.writeHead(417).end(() => refused.resolve()));
    },
  });
  await using opened = openClient(service.baseUrl);
  await using folder = await scratchDirectory();
  let commits = 0;
  const { sha256: sent } = await opened.client.videos.upload(
    await folder.write('clip.mp4', bytes.subarray(0, 1000)),
    { title: 'T' },
    {
      beforeLastPart: async () => {
        committed.resolve();
        await refused.promise;
        // The answer overtakes the commit.
        if ((commits += 1) === 1) for (let n = 0; n < 1000; n += 1) await turn();
      },
    },
  );
  expect(sha256(Buffer.concat(received))).toBe(sent);
});
