import { createServer } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { apiKey, openDaemonClient } from '../daemon-client.ts';
import type { Opened } from '../daemon-client.ts';
import { listen } from '../../support/server.ts';
import type { RunningServer } from '../../support/server.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const ok = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const video = '{"id":"v1","status":"ready"}';
const chunked = `${video.length.toString(16)}\r\n${video}\r\n0\r\n`;

/** A body with its true length. */
function sized(body: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`content-length: ${Buffer.byteLength(body)}\r\n\r\n`), Buffer.from(body)]);
}

function answer(head: string, body: string | Buffer = ''): Buffer {
  return Buffer.concat([Buffer.from(head), sized(body)]);
}

const encoded = (coding: string, body: Buffer) => answer(`${ok}content-encoding: ${coding}\r\n`, body);
const waiting = (status: number, after: string) => answer(`HTTP/1.1 ${status} X\r\nretry-after: ${after}\r\n`);

type Row = readonly [name: string, bytes: string | Buffer, expected: object];

const read = { id: 'v1', status: 'ready' };
const notHttp = { name: 'ConnectionError', sent: true, message: expect.stringMatching(/not valid HTTP \(HPE_\w+\)$/) };
const onlyHttp2 = {
  name: 'ConnectionError',
  code: 'http2_only',
  sent: true,
  message: expect.stringContaining('speaks only HTTP/2'),
};
const tooMuch = { name: 'ConnectionError', code: 'HPE_HEADER_OVERFLOW', message: expect.stringContaining('headers') };
const unreadable = { name: 'UnreadableAnswerError' };
const noAnswer = { ...unreadable, message: expect.stringContaining('which is not an answer to this request') };
const packedWith = (coding: string) => ({
  ...unreadable,
  message: expect.stringContaining(`compressed with ${coding}`),
});
const limited = (retryAfterMs?: number) => ({ name: 'RateLimitedError', retryAfterMs });

/** What tells where an answer ends: two readers of one connection must not differ about it (RFC 9112 section 11.2). */
const framing: readonly Row[] = [
  [
    'Content-Length and Transfer-Encoding',
    `${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n${chunked}\r\n`,
    notHttp,
  ],
  [
    'Transfer-Encoding and Content-Length',
    `${ok}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n${chunked}\r\n`,
    notHttp,
  ],
  ['two lengths', `${ok}content-length: 5\r\ncontent-length: 28\r\n\r\n${video}`, notHttp],
  ['one length twice', `${ok}content-length: 28\r\ncontent-length: 28\r\n\r\n${video}`, notHttp],
  ['a list of lengths', `${ok}content-length: 28, 28\r\n\r\n${video}`, notHttp],
  ['a length with a sign', `${ok}content-length: +28\r\n\r\n${video}`, notHttp],
  ['a negative length', `${ok}content-length: -1\r\n\r\n${video}`, notHttp],
  ['a hexadecimal length', `${ok}content-length: 0x1c\r\n\r\n${video}`, notHttp],
  ['a length without end', `${ok}content-length: ${'9'.repeat(40)}\r\n\r\n${video}`, notHttp],
  [
    'a length longer than the body',
    `${ok}content-length: 999\r\n\r\n${video}`,
    { name: 'ConnectionError', sent: true },
  ],
  ['a length shorter than the body', `${ok}content-length: 5\r\n\r\n${video}`, notHttp],
  ['a chunk size that is no number', `${ok}transfer-encoding: chunked\r\n\r\nzz\r\n${video}\r\n0\r\n\r\n`, notHttp],
  ['a negative chunk size', `${ok}transfer-encoding: chunked\r\n\r\n-1\r\n${video}\r\n0\r\n\r\n`, notHttp],
  ['a chunk size that overflows', `${ok}transfer-encoding: chunked\r\n\r\n${'f'.repeat(17)}\r\n${video}\r\n`, notHttp],
  [
    'a chunk extension of 1 MB',
    `${ok}transfer-encoding: chunked\r\n\r\n1c;${'x'.repeat(1e6)}\r\n${video}\r\n0\r\n\r\n`,
    notHttp,
  ],
  ['chunks without CR', `${ok}transfer-encoding: chunked\r\n\r\n${chunked.replaceAll('\r', '')}\n`, notHttp],
  [
    'chunked, then identity',
    `${ok}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n${chunked}\r\n`,
    unreadable,
  ],
  ['a space before the colon', `${ok}transfer-encoding : chunked\r\n\r\n${chunked}\r\n`, notHttp],
  ['trailers', `${ok}transfer-encoding: chunked\r\ntrailer: x-t\r\n\r\n${chunked}x-t: 1\r\n\r\n`, read],
  ['a length as a trailer', `${ok}transfer-encoding: chunked\r\n\r\n${chunked}content-length: 4\r\n\r\n`, notHttp],
  ['trailers of 1 MB', `${ok}transfer-encoding: chunked\r\n\r\n${chunked}${'x-t: 1\r\n'.repeat(130_000)}\r\n`, tooMuch],
  ['a second answer behind it', Buffer.concat([answer(ok, video), answer('HTTP/1.1 500 X\r\n', '{}')]), read],
  ['bytes behind it', Buffer.concat([answer(ok, video), Buffer.from('\0\0garbage')]), notHttp],
  ['204 with a body', answer('HTTP/1.1 204 No Content\r\n', video), notHttp],
];

const head: readonly Row[] = [
  ['a folded header', answer(`${ok}x-a: 1\r\n 2\r\n\t3\r\n`, video), notHttp],
  ['a folded length', `${ok}content-length:\r\n 28\r\n\r\n${video}`, notHttp],
  ['5,000 headers', answer(ok + 'x-a: b\r\n'.repeat(5000), video), tooMuch],
  ['a header of 17 KB', answer(`${ok}x: ${'y'.repeat(17_000)}\r\n`, video), tooMuch],
  ['a header of 1 MB', answer(`${ok}x: ${'y'.repeat(1e6)}\r\n`, video), tooMuch],
  ['a reason of 1 MB', answer(`HTTP/1.1 200 ${'x'.repeat(1e6)}\r\n`, video), tooMuch],
  ['NUL in the status line', answer('HTTP/1.1 200 O\0K\r\n', video), read],
  ['NUL in a header', answer(`${ok}x: a\0b\r\n`, video), notHttp],
  ['CR in a header', answer(`${ok}x: a\rb: c\r\n`, video), notHttp],
  ['LF alone', `HTTP/1.1 200 OK\n\n${video}`, notHttp],
  ['a header without a name', answer(`${ok}: c\r\n`, video), notHttp],
  [
    '5,000 answers to come',
    Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(5000)), answer(ok, video)]),
    read,
  ],
  [
    '3,000 early hints',
    Buffer.concat([Buffer.from('HTTP/1.1 103 X\r\nlink: <a>\r\n\r\n'.repeat(3000)), answer(ok, video)]),
    read,
  ],
  ['101', `HTTP/1.1 101 Switching Protocols\r\n\r\n${video}`, noAnswer],
  ['status 0', answer('HTTP/1.1 000 X\r\n', video), noAnswer],
  ['status 99', answer('HTTP/1.1 99 X\r\n', video), notHttp],
  ['status 999', answer('HTTP/1.1 999 X\r\n', video), { name: 'ServerError', status: 999 }],
  ['status 1000', answer('HTTP/1.1 1000 X\r\n', video), notHttp],
  ['304', 'HTTP/1.1 304 Not Modified\r\n\r\n', noAnswer],
  ['HTTP/0.9', video, notHttp],
  ['HTTP/1.0', `HTTP/1.0 200 OK\r\n\r\n${video}`, read],
  ['HTTP/2 in letters', answer('HTTP/2 200\r\n', video), notHttp],
  ['HTTP/2 in frames', Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]), onlyHttp2],
  ['nothing', '', { name: 'ConnectionError', code: 'ECONNRESET' }],
  ['a redirect to control characters', answer('HTTP/1.1 302 X\r\nlocation: \u0001\u0002http://[::/%%%\r\n'), notHttp],
  [
    'a redirect to a name of 9,000 letters',
    answer(`HTTP/1.1 302 X\r\nlocation: https://${'a'.repeat(9000)}/\r\n`),
    { name: 'RedirectError' },
  ],
  ['a redirect that leads nowhere', answer('HTTP/1.1 302 X\r\n'), { name: 'RedirectError' }],
];

const waits: readonly Row[] = [
  ['Retry-After: 1e309', waiting(429, '1e309'), limited()],
  ['Retry-After: 1e3', waiting(429, '1e3'), limited()],
  ['Retry-After: NaN', waiting(429, 'NaN'), limited()],
  ['Retry-After: -5', waiting(429, '-5'), limited()],
  ['Retry-After: 400 nines', waiting(429, '9'.repeat(400)), limited(2_147_483_647)],
  ['Retry-After: the year 9999', waiting(429, 'Fri, 31 Dec 9999 23:59:59 GMT'), limited(2_147_483_647)],
  ['Retry-After: the last day of JavaScript', waiting(429, 'Sat, 13 Sep 275760 00:00:00 GMT'), limited(2_147_483_647)],
  ['Retry-After: a day that no calendar has', waiting(429, 'Sat, 13 Sep 99999999 00:00:00 GMT'), limited()],
];

const bodies: readonly Row[] = [
  ['200 with nothing', answer(ok), { ...unreadable, message: expect.stringContaining('an empty body') }],
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', { ...unreadable, message: expect.stringContaining('an empty body') }],
  ['gzip', encoded('gzip', gzipSync(video)), packedWith('gzip')],
  ['br', encoded('br', brotliCompressSync(video)), packedWith('br')],
  ['gzip without a name', answer(ok, gzipSync(video)), packedWith('gzip')],
  ['gzip of 20 MB', encoded('gzip', gzipSync(Buffer.alloc(20_000_000))), packedWith('gzip')],
  ['a coding with an invented name', encoded('x'.repeat(5000), gzipSync(video)), packedWith('x')],
  ['JSON that is said to be gzip', encoded('gzip', Buffer.from(video)), read],
  [
    'an error in gzip',
    answer('HTTP/1.1 500 X\r\ncontent-encoding: gzip\r\n', gzipSync(video)),
    { name: 'ServerError', message: 'the service answered 500 server_error' },
  ],
  ['UTF-16', answer(ok, Buffer.from(video, 'utf16le')), unreadable],
  ['a million brackets', answer(ok, '['.repeat(500_000) + ']'.repeat(500_000)), unreadable],
  ['__proto__', answer(ok, `{"__proto__":${video}}`), unreadable],
  ['a duration of 1e309', answer(ok, '{"id":"v1","status":"ready","duration":1e309}'), read],
  ['an id of 1e309', answer(ok, '{"id":1e309,"status":"ready"}'), unreadable],
  ['an id with a line break', answer(ok, String.raw`{"id":"a\nb","status":"ready"}`), unreadable],
  ['an id with NUL', answer(ok, String.raw`{"id":"a\u0000b","status":"ready"}`), unreadable],
  ['an id with half a character', answer(ok, String.raw`{"id":"a\ud800","status":"ready"}`), unreadable],
  [
    'a message of 60 kB',
    answer('HTTP/1.1 400 X\r\n', JSON.stringify({ error: { code: 'c d '.repeat(1e3), message: 'y z '.repeat(1e4) } })),
    { name: 'RejectedError' },
  ],
  [
    'the key in every place',
    answer(
      `HTTP/1.1 400 ${apiKey}\r\nx-request-id: ${apiKey}\r\n`,
      `{"error":{"code":"${apiKey}","message":"no ${apiKey}"}}`,
    ),
    { name: 'RejectedError' },
  ],
  [
    'the escape of a terminal',
    answer('HTTP/1.1 400 X\r\n', String.raw`{"error":{"code":"a\u001b[2J","message":"\u202e\u0007x\r\ny"}}`),
    { name: 'RejectedError' },
  ],
];

describe('an answer in raw bytes', () => {
  let server: RunningServer;
  let opened: Opened;
  let next: string | Buffer = '';

  beforeAll(async () => {
    server = await listen(
      createServer((socket) => {
        socket.once('data', () => socket.end(next));
        socket.resume();
      }),
    );
    opened = openDaemonClient(server.origin);
  });

  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test.each([...framing, ...head, ...waits, ...bodies])('%s has its one outcome', async (_, bytes, expected) => {
    next = bytes;
    const outcome: unknown = await opened.client.videos.get('v1').catch((error: unknown) => error);
    expect(outcome).toMatchObject(expected);
    if (!(outcome instanceof Error)) return;
    const { cause } = outcome;
    const shown = [outcome.message, JSON.stringify(outcome), cause instanceof Error ? cause.message : ''];
    expect(Math.max(...shown.map((text) => text.length))).toBeLessThan(800);
    expect(shown.join('\n')).not.toContain(apiKey);
    // No control or format character, by which a message could forge a line or move the cursor.
    expect(outcome.message).not.toMatch(/\p{C}/u);
  });

  test.each<[string, string, object]>([
    ['304', 'HTTP/1.1 304 Not Modified\r\n\r\n', { name: 'UploadServerError', status: 304 }],
    ['two lengths', `${ok}content-length: 0\r\ncontent-length: 1\r\n\r\n`, notHttp],
    ['5,000 headers', `${ok}${'x-a: b\r\n'.repeat(5000)}\r\n`, tooMuch],
    ['200 at once', `${ok}content-length: 0\r\n\r\n`, { name: 'UploadServerError', code: 'early_answer' }],
  ])('%s to an upload leaves it in doubt', async (_, bytes, expected) => {
    next = bytes;
    await using folder = await scratchDirectory();
    const sending = opened.send(await folder.write('clip.mp4', 'the film'), `${server.origin}/u`);
    await expect(sending).rejects.toMatchObject(expected);
  });
});
