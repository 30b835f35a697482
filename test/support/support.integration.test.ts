import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { get as getByTls } from 'node:https';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { selfSigned } from '../client/certificate.ts';
import { startVideoHost } from '../e2e/video-host.ts';
import { howToHave, needs } from './needs.ts';
import { scratchDirectory } from './scratch-directory.ts';
import { listen, startServer } from './server.ts';
import { skippedLine, SkippedReporter } from './skipped-reporter.ts';
import { eventually, until } from './until.ts';

describe('until', () => {
  test('returns the first value that is there', async () => {
    const values = [undefined, null, false, 0];
    expect(await until('a value', () => values.shift())).toBe(0);
  });

  test('says what was awaited and what was seen last', async () => {
    const waiting = until('five of them', () => false, { withinMs: 1, seen: () => ['one', 'two'] });
    await expect(waiting).rejects.toThrow(/for: five of them\nLast seen: \[ 'one', 'two' ]/);
  });

  test('continues while looking throws, and keeps the last error as cause', async () => {
    const refused = new Error('refused');
    const look = (): true => {
      throw refused;
    };
    await expect(until('an answer', look, { withinMs: 1 })).rejects.toMatchObject({ cause: refused });
  });

  test('eventually waits for expectations', async () => {
    let count = 0;
    await eventually('three looks', () => expect((count += 1)).toBe(3));
    await expect(eventually('never', () => expect(1).toBe(2), { withinMs: 1 })).rejects.toThrow('expected 1 to be 2');
  });
});

test('a scratch directory is there inside its block alone', async () => {
  let path: string;
  {
    await using scratch = await scratchDirectory();
    path = scratch.path;
    expect(scratch.file('a', 'b')).toBe(`${path}/a/b`);
    expect(existsSync(path)).toBe(true);
  }
  expect(existsSync(path)).toBe(false);
});

test('the judge receives bytes that came with the headers, also when a fault counts them', async () => {
  let counted = 0;
  const bytes = randomBytes(20_000);
  await using host = await startVideoHost({
    resumable: 'content-range',
    meddleUpload: (request) => {
      request.on('data', (part: Buffer) => (counted += part.length));
      return false;
    },
  });
  const authorization = { authorization: `Bearer ${host.key}`, 'content-type': 'application/json' };
  const video = { title: 'a', channel_id: 'ch_main' };
  const created = await fetch(`${host.baseUrl}/videos`, {
    method: 'POST',
    headers: authorization,
    body: JSON.stringify(video),
  });
  const { id, upload_url: uploadUrl } = (await created.json()) as { id: string; upload_url: string };
  const { hostname, port, pathname, search } = new URL(uploadUrl);
  const head = `PUT ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  const socket = connect(Number(port), hostname);
  socket.write(Buffer.concat([Buffer.from(head), bytes]));
  await once(socket, 'data');
  socket.destroy();
  expect(counted).toBe(bytes.length);
  expect(host.videos.get(id)?.bodies).toEqual([createHash('sha256').update(bytes).digest('hex')]);
});

test('a run without PostgreSQL says loudly how many files of its projects it leaves out', () => {
  const lines: string[] = [];
  const reporter = new SkippedReporter({ postgres: ['a.pg.test.ts', 'b.pg.test.ts'] }, (line) => lines.push(line));
  reporter.onInit({ projects: [{ name: 'postgres' }] });
  reporter.onTestRunEnd([]);
  expect(lines.join('')).toContain('SKIPPED 2 FILES OF TESTS: no PostgreSQL');
  expect(lines.join('')).toContain('apt-get install postgresql');
});

test('a run that has no tests of a fleet says nothing of PostgreSQL', () => {
  const lines: string[] = [];
  const reporter = new SkippedReporter({ postgres: ['a.pg.test.ts'] }, (line) => lines.push(line));
  reporter.onInit({ projects: [{ name: 'unit' }] });
  reporter.onTestRunEnd([]);
  expect(lines).toEqual([]);
});

describe('startServer', () => {
  test.for([
    ['http', {}, get],
    ['https', { tls: selfSigned }, getByTls],
  ] as const)('serves %s until its block ends, and cuts what is still open', async ([scheme, options, ask]) => {
    let reading: Promise<string>;
    {
      await using server = await startServer((_request, response) => response.write('half'), options);
      expect(new URL(server.origin).protocol).toBe(`${scheme}:`);
      const answer = ask(server.origin, { rejectUnauthorized: false });
      const [response] = (await once(answer, 'response')) as [IncomingMessage];
      expect(server.sockets.size).toBe(1);
      reading = text(response);
      reading.catch(() => {});
    }
    await expect(reading).rejects.toThrow('aborted');
  });

  test('a server of node:net is closed the same way', async () => {
    let port: number;
    {
      await using server = await listen(createServer((socket) => socket.end()));
      ({ port } = server);
    }
    const refused = new Promise((resolve) => get(`http://127.0.0.1:${port}`).on('error', resolve));
    expect(await refused).toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('a missing program', () => {
  test('skips its test and is recorded', () => {
    expect(needs()).toEqual({});
    const lacking = process.getuid?.() === 0 ? 'not root' : 'root';
    expect(needs(lacking)).toEqual({ skip: true, meta: { lacks: [lacking] } });
  });

  test('is one line at the end, with counts and the way to have it', () => {
    expect(skippedLine([['zsh'], ['zsh', 'fish'], [], ['root']])).toBe(
      'Skipped 3 tests: no fish (1), root (1), zsh (2). To run them: apt-get install fish zsh; run as root',
    );
    expect(skippedLine([[], []])).toBeNull();
    expect(howToHave(['man', 'openssl'])).toBe('apt-get install man-db openssl');
  });
});
