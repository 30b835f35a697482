import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createServer } from 'node:net';
import { describe, expect, test, vi } from 'vitest';

import { createBandwidth } from '@dropcast/client';
import type { Bandwidth } from '@dropcast/client';
import {
  AbortedError,
  AddressDeadError,
  ConnectionError,
  FileChangedError,
  RedirectError,
  UnreadableAnswerError,
  UploadConflictError,
  UploadRejectedError,
  UploadServerError,
  UploadStalledError,
} from '../../../packages/client/src/errors.ts';
import { putFile } from './put-file.ts';
import type { PutOptions, Uploaded } from './put-file.ts';
import { seekableOf } from '../../../packages/client/src/upload/upload-source.ts';
import { createUploadTargets } from '../../../packages/client/src/upload/upload-targets.ts';
import { content, sha256 } from '../bytes.ts';
import { selfSigned } from '../certificate.ts';
import { listen, startServer } from '../../support/server.ts';
import { startHost, takeAll } from '../upload-host.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';

const mib = 1024 * 1024;
const token = 'tok_5f0c1be2aa77';

interface Given extends Partial<PutOptions> {
  readonly url: string;
  readonly path: string;
  readonly bandwidth?: Bandwidth;
  readonly refusesExpect?: Set<string>;
}

async function upload(
  { path, bandwidth, refusesExpect = new Set(), ...given }: Given,
  keys: Readonly<Record<string, string>> = {},
): Promise<Uploaded> {
  const { sizeBytes, openReader } = await seekableOf(path);
  const options: PutOptions = {
    headers: { 'content-type': 'video/mp4' },
    signal: new AbortController().signal,
    stallTimeoutMs: 5000,
    beforeLastPart: async () => {},
    ...given,
  };
  const agent = { http: new HttpAgent(), https: new HttpsAgent({ ca: selfSigned.cert }) };
  const targets = createUploadTargets({ baseUrl: 'http://127.0.0.1:1', named: new Set() });
  const keyFor = (origin: string): string | null => keys[origin] ?? null;
  await using reader = await openReader();
  return await putFile({ reader, sizeBytes }, options, {
    kept: agent,
    fresh: agent,
    userAgent: 'dropcast-test',
    bandwidth,
    targets,
    refusesExpect,
    keyFor,
  });
}

/** The error of a failed upload; everything open on the file must be closed by then. */
async function failed(work: Promise<unknown>, folder: string): Promise<Error> {
  const error = await work.then(
    () => new Error('it succeeded'),
    (reason: Error) => reason,
  );
  expect(openIn(folder)).toEqual([]);
  return error;
}

function openIn(folder: string): readonly string[] {
  return readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return '';
      }
    })
    .filter((path) => path.startsWith(folder));
}

describe('an upload', () => {
  test.each([0, 1, mib - 1, mib, mib + 1, 5 * mib + 12_345])(
    'of %i bytes arrives whole, with its length, type and hash',
    async (bytes) => {
      const received: Buffer[] = [];
      await using host = await startHost((request, response) => {
        request.on('data', (chunk: Buffer) => received.push(chunk));
        request.on('end', () => response.writeHead(204).end());
        request.resume();
      });
      await using folder = await scratchDirectory();
      const path = await folder.write('clip.MP4', content(bytes));
      const sent: number[] = [];
      const committed: string[] = [];
      const result = await upload({
        url: `${host.origin}/u/${token}?sig=a%2Fb+c`,
        path,
        onProgress: (n) => sent.push(n),
        beforeLastPart: async (hash) => void committed.push(hash),
      });
      expect(result).toEqual({ sha256: sha256(content(bytes)), bytes });
      expect(sha256(Buffer.concat(received))).toBe(result.sha256);
      expect(committed).toEqual([result.sha256]);
      expect(host.seen[0]).toMatchObject({ method: 'PUT', url: `/u/${token}?sig=a%2Fb+c`, bytes, isComplete: true });
      expect(host.seen[0]?.headers).toMatchObject({ 'content-length': String(bytes), 'content-type': 'video/mp4' });
      expect(host.seen[0]?.headers.authorization).toBeUndefined();
      expect(sent).toEqual(sent.toSorted((a, b) => a - b));
      if (bytes > 0) expect(sent.at(-1)).toBe(bytes);
      expect(openIn(folder.path)).toEqual([]);
    },
  );

  test('arrives byte for byte through TLS, read slowly: no part is read over one that has not left yet', async () => {
    const hash = createHash('sha256');
    const sip = (request: IncomingMessage, response: ServerResponse): void => {
      const sips = setInterval(() => hash.update(request.read() ?? ''), 2);
      request.on('end', () => (clearInterval(sips), response.end()));
    };
    await using host = await startServer(sip, { tls: selfSigned });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(9 * mib + 5));
    const { sha256: sent } = await upload({ url: host.origin, path });
    expect(hash.digest('hex')).toBe(sent);
  });

  test('commits before the last part leaves: a commit that fails keeps the body incomplete', async () => {
    await using host = await startHost(takeAll());
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(3 * mib));
    const beforeLastPart = async () => {
      await until('all but the last part is there', () => host.seen[0]?.bytes === 2 * mib);
      throw new Error('ledger is full');
    };
    const error = await failed(upload({ url: host.origin, path, beforeLastPart }), folder.path);
    expect(error.message).toBe('ledger is full');
    expect(host.seen[0]).toMatchObject({ bytes: 2 * mib, isComplete: false });
  });

  test('of an empty file commits before the request is made', async () => {
    await using host = await startHost(takeAll());
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', '');
    const beforeLastPart = async () => {
      throw new Error('ledger is full');
    };
    const error = await failed(upload({ url: host.origin, path, beforeLastPart }), folder.path);
    expect(error.message).toBe('ledger is full');
    expect(host.seen).toEqual([]);
  });

  test.each(['http://video.example.com/u/x', 'ftp://127.0.0.1/u', 'file:///etc/passwd', 'not an address'])(
    'to %s is refused before anything is opened',
    async (url) => {
      await using folder = await scratchDirectory();
      const path = await folder.write('clip.mp4', 'x');
      const error = await failed(upload({ url, path }), folder.path);
      expect(error).toBeInstanceOf(UploadRejectedError);
    },
  );

  test('shares a bandwidth limit and is not taken for stalled while it waits for it', async () => {
    await using host = await startHost(takeAll());
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(512 * 1024));
    const bandwidth = createBandwidth(mib);
    const one = { url: host.origin, path, bandwidth, stallTimeoutMs: 250 };
    await Promise.all([upload(one), upload(one)]);
    expect(host.seen.map(({ isComplete }) => isComplete)).toEqual([true, true]);
  });
});

describe('an answer of the upload address', () => {
  test.each([
    [401, AddressDeadError],
    [403, AddressDeadError],
    [404, AddressDeadError],
    [410, AddressDeadError],
    [409, UploadConflictError],
    [413, UploadRejectedError],
    [422, UploadRejectedError],
    [408, UploadServerError],
    [425, UploadServerError],
    [429, UploadServerError],
    [500, UploadServerError],
    [503, UploadServerError],
  ])(
    '%i instead of 100 Continue is its own error, and not a byte of the file was sent or committed',
    async (status, kind) => {
      const answer = (_: unknown, response: ServerResponse) =>
        void response.writeHead(status, { connection: 'close', 'retry-after': '7' }).end(`<b>no ${token}</b>`);
      await using host = await startHost(takeAll(), { onExpect: answer });
      await using folder = await scratchDirectory();
      const path = await folder.write('clip.mp4', content(3 * mib));
      const beforeLastPart = vi.fn(async () => {});
      const url = `${host.origin}/u/${token}`;
      const error = await failed(upload({ url, path, beforeLastPart }), folder.path);
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({ status, retryAfterMs: 7000 });
      expect(error.message).toMatch(/^the upload address answered \d+ [a-z_]+: no \[secret\]$/);
      expect(host.seen[0]?.bytes).toBe(0);
      expect(beforeLastPart).not.toHaveBeenCalled();
    },
  );

  test('is not awaited forever: a server that does not know 100 Continue still gets the body', async () => {
    // A bare socket: it says nothing until it has the whole body.
    const silent = createServer((socket) => {
      let bytes = 0;
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        if (bytes > 2 * mib) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      });
    });
    await using server = await listen(silent);
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(2 * mib));
    await expect(upload({ url: server.origin, path })).resolves.toMatchObject({ bytes: 2 * mib });
  });

  test('417 makes it send once more without asking first', async () => {
    await using host = await startHost(takeAll(), { onExpect: (_, response) => void response.writeHead(417).end() });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(2 * mib));
    await expect(upload({ url: host.origin, path })).resolves.toMatchObject({ bytes: 2 * mib });
    expect(host.seen.map((request) => request.headers.expect)).toEqual(['100-continue', undefined]);
    expect(host.seen[1]).toMatchObject({ bytes: 2 * mib, isComplete: true });
  });

  // The server may have the whole file by then: two complete PUTs could make two videos.
  test('417 after bytes have left is in doubt, and nothing is sent again unasked', async () => {
    await using host = await startHost(takeAll(), {
      // Says neither `100 Continue` nor anything else until it has the whole body.
      onExpect: (request, response) => {
        request.resume();
        request.on('end', () => response.writeHead(417).end());
      },
    });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(2 * mib));
    const refusesExpect = new Set<string>();
    const error = await failed(upload({ url: host.origin, path, refusesExpect }), folder.path);
    expect(error).toMatchObject({ name: 'UploadServerError', status: 417 });
    expect(host.seen).toHaveLength(1);
    // The one that is sent once the service was asked leaves without Expect.
    await expect(upload({ url: host.origin, path, refusesExpect })).resolves.toMatchObject({ bytes: 2 * mib });
    expect(host.seen.map((request) => request.headers.expect)).toEqual(['100-continue', undefined]);
  });

  test.each([301, 302, 303, 307, 308])(
    '%i is never followed, and names only the origin it leads to',
    async (status) => {
      await using other = await startHost(takeAll());
      const location = `${other.origin}/secret-path-12345?sig=abcdefghijk`;
      await using host = await startHost((request, response) => {
        request.resume();
        request.on('end', () => response.writeHead(status, { location }).end());
      });
      await using folder = await scratchDirectory();
      const path = await folder.write('clip.mp4', content(2 * mib));
      const error = await failed(upload({ url: host.origin, path }), folder.path);
      expect(error).toBeInstanceOf(RedirectError);
      expect(error.message).toContain(other.origin);
      expect(error.message).not.toContain('secret-path');
      expect(other.seen).toEqual([]);
    },
  );

  test('in the middle of the body stops the body at once: the last part and its commit never happen', async () => {
    await using host = await startHost((request, response) => {
      request.once('data', () => {
        response.writeHead(403, { 'content-type': 'application/json' }).write('{"error":{"code":"expired",');
        // A moment in which nothing more is to be sent.
        setTimeout(() => response.end('"message":"too late"}}'), 600);
      });
      request.resume();
    });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(6 * mib));
    const beforeLastPart = vi.fn(async () => {});
    // Slow enough for the head of the answer to come before the end of the body, which comes before the end of the answer.
    const bandwidth = createBandwidth(20 * mib);
    const given = { url: host.origin, path, bandwidth, beforeLastPart };
    const error = await failed(upload(given), folder.path);
    expect(error).toBeInstanceOf(AddressDeadError);
    expect(error).toMatchObject({ code: 'expired' });
    expect(beforeLastPart).not.toHaveBeenCalled();
    expect(host.seen[0]?.isComplete).toBe(false);
  });

  test.each([
    ['a document', '<!doctype html><title>Welcome</title>'],
    ['in capitals', '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN"><HTML>'],
    ['without a document type', '<html lang="en">'],
    ['after a byte order mark and white space', '\uFEFF\r\n\t <!doctype html>'],
    ['after comments', '<!-- portal 1.2 --> <!-- > --><html>'],
    ['after an XML declaration', '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">'],
    ['that begins with its head', '<head><meta charset=utf-8>'],
    ['that redirects by a tag', '<META http-equiv="refresh" content="0;url=http://login.example">'],
    ['that redirects by a script', '<script>location="http://login.example"</script>'],
    ['in UTF-16', Buffer.from('\uFEFF<!doctype html>', 'utf16le')],
  ])('that reports success with a web page is no success: %s', async (_name, page) => {
    for (const type of ['text/html', 'application/octet-stream']) {
      await using host = await startHost(takeAll(200, page, { 'content-type': type }));
      await using folder = await scratchDirectory();
      const path = await folder.write('clip.mp4', content(mib));
      const error = await failed(upload({ url: host.origin, path }), folder.path);
      expect(error).toBeInstanceOf(UnreadableAnswerError);
      expect(error).toMatchObject({ code: 'web_page', status: 200 });
    }
  });

  test.each([
    ['nothing', ''],
    ['text', 'ok'],
    ['XML', '<?xml version="1.0"?><!-- html --><PostResponse><Key>a</Key></PostResponse>'],
    ['another tag', '<htmlish/>'],
    ['JSON that has a page in it', '{"page":"<!doctype html>"}'],
    ['a comment alone', '<!-- <html> '],
  ])('that reports success with %s is a success, even with the content type of a web page', async (_name, body) => {
    await using host = await startHost(takeAll(200, body, { 'content-type': 'text/html' }));
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(mib));
    expect(await upload({ url: host.origin, path })).toMatchObject({ bytes: mib });
  });

  test('that is a web page and comes before the whole file is recognised', async () => {
    await using host = await startHost(takeAll(), {
      onExpect: (_, response) => void response.writeHead(200).end('<html>Log in</html>'),
    });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(mib));
    const error = await failed(upload({ url: host.origin, path }), folder.path);
    expect(error).toMatchObject({ code: 'web_page' });
  });

  test('that reports success before it had the whole file is not trusted', async () => {
    await using host = await startHost(takeAll(), { onExpect: (_, response) => void response.writeHead(200).end() });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(mib));
    const error = await failed(upload({ url: host.origin, path }), folder.path);
    expect(error).toBeInstanceOf(UploadServerError);
    expect(error).toMatchObject({ code: 'early_answer' });
  });

  test('that does not end is cut', async () => {
    await using host = await startHost((request, response) => {
      request.resume();
      const piece = Buffer.alloc(mib, 'x');
      const more = () => void response.write(piece, () => setImmediate(more));
      request.on('end', more);
    });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', 'x');
    const error = await failed(upload({ url: host.origin, path }), folder.path);
    expect(error).toBeInstanceOf(UnreadableAnswerError);
  });
});

describe('a connection that fails', () => {
  test('is not sent when nothing listens', async () => {
    const host = await startHost(takeAll());
    await host[Symbol.asyncDispose]();
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(mib));
    const beforeLastPart = vi.fn(async () => {});
    const error = await failed(upload({ url: host.origin, path, beforeLastPart }), folder.path);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ sent: false, code: 'ECONNREFUSED' });
    expect(beforeLastPart).not.toHaveBeenCalled();
  });

  test('is sent when it is reset in the middle of the body', async () => {
    await using host = await startHost((request) => {
      request.once('data', () => request.socket.resetAndDestroy());
      request.resume();
    });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(8 * mib));
    const error = await failed(upload({ url: host.origin, path }), folder.path);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ sent: true });
  });

  test('is sent when it is reset after the whole body', async () => {
    await using host = await startHost((request) => {
      request.resume();
      request.on('end', () => request.socket.resetAndDestroy());
    });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(mib));
    const error = await failed(upload({ url: host.origin, path }), folder.path);
    expect(error).toMatchObject({ name: 'ConnectionError', sent: true });
  });
});

describe('a stall', () => {
  test('is cut when the other side stops to read', async () => {
    await using host = await startHost((request) => request.pause());
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(24 * mib));
    const error = await failed(upload({ url: host.origin, path, stallTimeoutMs: 400 }), folder.path);
    expect(error).toBeInstanceOf(UploadStalledError);
    expect(error).toMatchObject({ code: 'upload_stalled' });
  });

  test('is not detected while bytes move, however long the whole takes', async () => {
    await using host = await startHost((request, response) => {
      const sip = setInterval(() => request.read(512 * 1024), 100);
      request.on('end', () => (clearInterval(sip), response.writeHead(200).end()));
    });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(12 * mib));
    await upload({ url: host.origin, path, stallTimeoutMs: 2000 });
    expect(host.seen[0]).toMatchObject({ bytes: 12 * mib, isComplete: true });
  });

  test('is not detected while the other side works on a whole body, up to the time for that', async () => {
    await using host = await startHost((request, response) => {
      request.resume();
      // Longer than the stall timeout, in which nothing happens.
      request.on('end', () => setTimeout(() => response.writeHead(200).end(), 2500));
    });
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(mib));
    const given = { url: host.origin, path, stallTimeoutMs: 2000 };
    await expect(upload(given)).resolves.toMatchObject({ bytes: mib });
    const error = await failed(upload({ ...given, answerTimeoutMs: 300 }), folder.path);
    expect(error).toMatchObject({ name: 'UploadStalledError', code: 'no_answer' });
  });

  test('is cut when an empty file gets no answer', async () => {
    await using host = await startHost((request) => request.resume());
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(0));
    // Its headers are the whole request: there is nothing to take in that could need the time for an answer.
    const given = { url: host.origin, path, stallTimeoutMs: 300, answerTimeoutMs: 60_000 };
    expect(await failed(upload(given), folder.path)).toMatchObject({ name: 'UploadStalledError', code: 'no_answer' });
  });

  test('is not detected while we commit', async () => {
    await using host = await startHost(takeAll());
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(mib));
    // Longer than the stall timeout, in which nothing happens.
    const beforeLastPart = () => new Promise<void>((resolve) => setTimeout(resolve, 2500));
    await upload({ url: host.origin, path, stallTimeoutMs: 2000, beforeLastPart });
  });
});

describe('a file that changes while it is sent', () => {
  /** Sends 6 MiB, does something to the file after the first bytes, and says how it ended. */
  async function changing(change: (path: string) => void) {
    await using host = await startHost(takeAll());
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(6 * mib));
    const beforeLastPart = vi.fn(async () => {});
    let isDone = false;
    const onProgress = () => {
      if (!isDone) change(path);
      isDone = true;
    };
    const work = upload({ url: host.origin, path, onProgress, beforeLastPart });
    const result = await work.catch((error: Error) => error);
    expect(openIn(folder.path)).toEqual([]);
    await until('the connection is closed', () => host.sockets.size === 0);
    return { result, seen: host.seen[0], commits: beforeLastPart.mock.calls.length };
  }

  test.each<[string, (path: string) => void]>([
    ['grows', (path) => appendFileSync(path, 'more')],
    ['shrinks', (path) => truncateSync(path, 4 * mib)],
    ['shrinks below what was sent', (path) => truncateSync(path, 10)],
    ['is overwritten in place', (path) => poke(path, 3 * mib)],
    ['is overwritten where it was already sent, and its mtime restored', pokeKeepingMtime(100)],
    [
      'is overwritten where it was not sent yet, and its mtime restored, after a first look',
      pokeKeepingMtime(5.5 * mib, true),
    ],
  ])('and %s is never complete on the other side', async (_, change) => {
    const { result, seen, commits } = await changing(change);
    expect(result).toBeInstanceOf(FileChangedError);
    expect(seen?.isComplete).toBe(false);
    expect(commits).toBe(0);
  });

  test.each<[string, (path: string) => void]>([
    ['renamed', (path) => renameSync(path, `${path}.moved`)],
    ['made read-only', (path) => chmodSync(path, 0o444)],
    ['deleted', (path) => unlinkSync(path)],
    [
      'replaced by another at its path',
      (path) => {
        renameSync(path, `${path}.moved`);
        writeFileSync(path, 'another');
      },
    ],
  ])('its name or mode alone (%s) is sent to the end from the descriptor', async (_, change) => {
    const { result, seen, commits } = await changing(change);
    expect(result).toEqual({ sha256: sha256(content(6 * mib)), bytes: 6 * mib });
    expect(seen?.isComplete).toBe(true);
    expect(commits).toBe(1);
  });

  function poke(path: string, at: number): void {
    const fd = openSync(path, 'r+');
    writeSync(fd, Buffer.from([255]), 0, 1, at);
    closeSync(fd);
  }

  function pokeKeepingMtime(at: number, again = false): (path: string) => void {
    return (path) => {
      const before = statSync(path, { bigint: true });
      poke(path, at);
      if (again) poke(path, 1);
      // Only a tool that knows nanoseconds puts it back exactly.
      execFileSync('touch', [
        '-d',
        `@${before.mtimeNs / 1_000_000_000n}.${String(before.mtimeNs % 1_000_000_000n).padStart(9, '0')}`,
        path,
      ]);
      expect(statSync(path, { bigint: true }).mtimeNs).toBe(before.mtimeNs);
    };
  }
});

describe('breaking an upload off', () => {
  test.each([0, 1, 4])('after %i progress notes closes file and connection at once', async (notes) => {
    await using host = await startHost((request) => request.resume());
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(4 * mib));
    const stop = new AbortController();
    let heard = 0;
    const onProgress = () => {
      if (++heard === notes) stop.abort();
    };
    const work = upload({ url: host.origin, path, signal: stop.signal, onProgress });
    if (notes === 0) stop.abort();
    expect(await failed(work, folder.path)).toBeInstanceOf(AbortedError);
    await until('the connection is closed', () => host.sockets.size === 0);
  });

  test('waits for a commit under way, so that none comes after the error', async () => {
    await using host = await startHost(takeAll());
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(2 * mib));
    const stop = new AbortController();
    let isCommitted = false;
    const beforeLastPart = async () => {
      stop.abort();
      // A moment in which the upload could end, and must not.
      await new Promise((resolve) => setTimeout(resolve, 100));
      isCommitted = true;
    };
    const error = await failed(upload({ url: host.origin, path, signal: stop.signal, beforeLastPart }), folder.path);
    expect(error).toBeInstanceOf(AbortedError);
    expect(isCommitted).toBe(true);
    expect(host.seen[0]?.isComplete).toBe(false);
  });
});

describe('after an upload has ended, its stall watch is off', () => {
  test('when a commit is still under way at the abort', async () => {
    await using host = await startHost(takeAll());
    await using folder = await scratchDirectory();
    using timers = watchTimers(54_321);
    const stop = new AbortController();
    const beforeLastPart = async () => {
      stop.abort();
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const path = await folder.write('clip.mp4', content(2 * mib));
    const given = { url: host.origin, path, signal: stop.signal, beforeLastPart, stallTimeoutMs: timers.ms };
    expect(await failed(upload(given), folder.path)).toBeInstanceOf(AbortedError);
    expect(timers.set).toBeGreaterThan(0);
    expect(timers.active()).toBe(0);
  });

  test('when the answer comes while the body waits for bandwidth', async () => {
    await using host = await startHost((request, response) => {
      request.once('data', () => response.writeHead(413, { connection: 'close' }).end());
      request.resume();
    });
    await using folder = await scratchDirectory();
    using timers = watchTimers(54_321);
    const path = await folder.write('clip.mp4', content(2 * mib));
    const given = { url: host.origin, path, bandwidth: createBandwidth(64 * 1024), stallTimeoutMs: timers.ms };
    expect(await failed(upload(given), folder.path)).toBeInstanceOf(UploadRejectedError);
    expect(timers.set).toBeGreaterThan(0);
    expect(timers.active()).toBe(0);
  });
});

/** Follows the timers of one length, which nothing else uses. */
function watchTimers(ms: number): { readonly ms: number; readonly set: number; active(): number } & Disposable {
  const arm = vi.spyOn(globalThis, 'setTimeout');
  const clear = vi.spyOn(globalThis, 'clearTimeout');
  const ofThisLength = () =>
    arm.mock.calls.flatMap(([, length], index) => (length === ms ? [arm.mock.results[index]?.value as unknown] : []));
  return {
    ms,
    get set() {
      return ofThisLength().length;
    },
    active: () => ofThisLength().filter((timer) => !clear.mock.calls.some(([cleared]) => cleared === timer)).length,
    [Symbol.dispose]: () => {
      arm.mockRestore();
      clear.mockRestore();
    },
  };
}
