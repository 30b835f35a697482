import { createHash, X509Certificate } from 'node:crypto';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../packages/sandbox/src/sandbox.ts';
import { certificateIn } from '../../packages/sandbox/src/tls.ts';
import { findChromium, needs } from '../support/needs.ts';
import { runSandbox } from './running-sandbox.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const DAY_MS = 86_400_000;
const nowMs = Date.now();
const executablePath = findChromium();
const run = promisify(execFile);

describe('the certificate in the folder', () => {
  test('is for this machine by every name, for a year, and its key is for the owner alone', async () => {
    await using folder = await scratchDirectory();
    const { cert, caPath } = await certificateIn({ folder: folder.path, hosts: ['box.localhost'], nowMs });
    const leaf = new X509Certificate(cert);
    const names = ['localhost', 'box.localhost'].map((name) => leaf.checkHost(name));
    const addresses = ['127.0.0.1', '::1'].map((address) => leaf.checkIP(address));
    expect([...names, ...addresses]).toEqual(['localhost', 'box.localhost', '127.0.0.1', '::1']);
    expect(leaf.checkHost('example.com')).toBeUndefined();
    expect(Math.round((leaf.validToDate.getTime() - nowMs) / DAY_MS)).toBe(365);
    expect(leaf.ca).toBe(false);
    expect(new X509Certificate(await readFile(caPath)).ca).toBe(true);
    expect((await stat(join(dirname(caPath), 'key.pem'))).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(caPath))).mode & 0o777).toBe(0o700);
  });

  test('is kept until a week before it expires, then replaced with another serial number', async () => {
    await using folder = await scratchDirectory();
    const at = async (day: number) =>
      (await certificateIn({ folder: folder.path, hosts: ['localhost'], nowMs: nowMs + day * DAY_MS })).cert;
    const first = await at(0);
    expect(await at(357)).toBe(first);
    const renewed = await at(359);
    expect(new X509Certificate(renewed).serialNumber).not.toBe(new X509Certificate(first).serialNumber);
    expect(await at(360)).toBe(renewed);
  });

  test('is replaced when it is not valid yet, because the clock of the machine was ahead', async () => {
    await using folder = await scratchDirectory();
    const ahead = await certificateIn({ folder: folder.path, hosts: ['localhost'], nowMs: nowMs + 100 * DAY_MS });
    const { cert } = await certificateIn({ folder: folder.path, hosts: ['localhost'], nowMs });
    expect(cert).not.toBe(ahead.cert);
    expect(new X509Certificate(cert).validFromDate.getTime()).toBeLessThanOrEqual(nowMs);
  });

  test('keeps its key private, also when an earlier process left a readable file behind', async () => {
    await using folder = await scratchDirectory();
    await mkdir(folder.file('tls'));
    await writeFile(folder.file('tls', 'key.pem.new'), 'half a key', { mode: 0o644 });
    await certificateIn({ folder: folder.path, hosts: ['localhost'], nowMs });
    expect((await stat(folder.file('tls', 'key.pem'))).mode & 0o777).toBe(0o600);
  });

  test('of version 0.1.0 (RSA) stays in use', needs('openssl'), async () => {
    await using folder = await scratchDirectory();
    await mkdir(folder.file('tls'));
    const at = (name: string) => folder.file('tls', name);
    const subject = (name: string) => ['-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`];
    await run('openssl', [
      'req',
      '-x509',
      ...subject('old authority'),
      '-days',
      '365',
      '-keyout',
      at('ca.key'),
      '-out',
      at('ca.pem'),
    ]);
    const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:0:0:0:0:0:0:0:1';
    const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-days', '365', '-addext', names];
    await run('openssl', [
      'req',
      '-x509',
      ...subject('old'),
      ...signed,
      '-keyout',
      at('key.pem'),
      '-out',
      at('cert.pem'),
    ]);
    const before = await readFile(at('cert.pem'), 'utf8');
    expect((await certificateIn({ folder: folder.path, hosts: ['127.0.0.1'], nowMs: Date.now() + 1000 })).cert).toBe(
      before,
    );
  });

  test('is replaced for another host, and when its files are broken or do not match', async () => {
    await using folder = await scratchDirectory();
    const kept = (host: string) => certificateIn({ folder: folder.path, hosts: [host], nowMs });
    const first = await kept('[::1]');
    expect((await kept('127.0.0.1')).cert).toBe(first.cert);
    const second = await kept('127.0.0.2');
    expect(second.cert).not.toBe(first.cert);
    await writeFile(join(dirname(second.caPath), 'key.pem'), first.key);
    const third = await kept('127.0.0.2');
    expect(third.cert).not.toBe(second.cert);
    await writeFile(join(dirname(second.caPath), 'cert.pem'), 'nonsense');
    expect((await kept('127.0.0.2')).cert).not.toBe(third.cert);
  });

  test('satisfies the strict rules of OpenSSL', needs('openssl'), async () => {
    await using folder = await scratchDirectory();
    const { caPath } = await certificateIn({ folder: folder.path, hosts: ['localhost'], nowMs });
    const cert = join(dirname(caPath), 'cert.pem');
    const { stdout } = await run('openssl', ['verify', '-x509_strict', '-CAfile', caPath, cert]);
    expect(stdout).toBe(`${cert}: OK\n`);
  });
});

describe('over TLS (5)', () => {
  let sandbox: Sandbox;
  let ca: string;
  beforeAll(async () => {
    ({ sandbox } = await runSandbox({ tls: true, uploadOrigin: 'separate' }));
    ca = sandbox.caPath ?? '';
  });
  afterAll(() => sandbox.close());

  test('5.5 all addresses are https, and the certificate is trusted through its authority', async () => {
    const origins = [sandbox.baseUrl, sandbox.adminUrl, sandbox.pageUrl, sandbox.uploadOrigin];
    expect(origins.map((address) => new URL(address).protocol)).toEqual(['https:', 'https:', 'https:', 'https:']);
    const trust = { ca: await readFile(ca), headers: { authorization: `Bearer ${sandbox.apiKey}` } };
    const asked = request(`${sandbox.baseUrl}/channels`, trust).end();
    const [response] = await once(asked, 'response');
    expect([response.statusCode, await text(response)]).toEqual([200, expect.stringContaining('ch_main')]);
  });

  test('curl --cacert and NODE_EXTRA_CA_CERTS are all that clients need; without them they refuse', async () => {
    const url = `${sandbox.baseUrl}/channels`;
    const curl = (...more: string[]) => run('curl', ['-sS', '-o', '/dev/null', '-w', '%{http_code}', ...more, url]);
    expect((await curl('--cacert', ca)).stdout).toBe('401');
    await expect(curl()).rejects.toMatchObject({ code: 60 });
    const script = `const { status } = await fetch(${JSON.stringify(url)}); console.log(status)`;
    const node = (env: Record<string, string>) =>
      run(process.execPath, ['--input-type=module', '-e', script], { env: { ...process.env, ...env } });
    expect((await node({ NODE_EXTRA_CA_CERTS: ca })).stdout).toBe('401\n');
    await expect(node({})).rejects.toMatchObject({ stderr: expect.stringContaining('UNABLE_TO_VERIFY') });
  });

  test.each(['baseUrl', 'uploadOrigin'] as const)(
    '5.5 plain http to %s gets an answer and is closed',
    async (which) => {
      const socket = connect(Number(new URL(sandbox[which]).port), '127.0.0.1');
      socket.end(`GET /v1/videos HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${sandbox.apiKey}\r\n\r\n`);
      const answer = await text(socket);
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: { code: 'bad_request' } });
      expect(sandbox.requests().filter(({ path }) => path === '/v1/videos')).toEqual([]);
    },
  );

  test('noise instead of a handshake ends only its own connection', async () => {
    const socket = connect(sandbox.port, '127.0.0.1').on('error', () => undefined);
    socket.end(Buffer.alloc(4000, 7));
    await new Promise((resolve) => socket.on('close', resolve));
    expect((await run('curl', ['-sS', '--cacert', ca, sandbox.baseUrl])).stdout).toContain('unauthorized');
  });

  test('a client that has connected and sent nothing does not hold up the end', async () => {
    const ending = await runSandbox({ tls: true });
    const silent = connect(ending.sandbox.port, '127.0.0.1').on('error', () => undefined);
    const cut = once(silent, 'close');
    await once(silent, 'connect');
    await ending.sandbox.close();
    await cut;
  });

  test('Chromium finds nothing wrong but that it does not know the authority', needs('chromium'), async () => {
    const visit = async (args: string[]) => {
      await using browser = await chromium.launch({
        executablePath: executablePath ?? '',
        args: ['--no-sandbox', ...args],
      });
      const page = await browser.newPage();
      return (await page.goto(`${sandbox.baseUrl}/channels`))?.status();
    };
    await expect(visit([])).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
    const { publicKey } = new X509Certificate(await readFile(join(dirname(ca), 'cert.pem')));
    const pin = createHash('sha256').update(publicKey.export({ type: 'spki', format: 'der' }));
    expect(await visit([`--ignore-certificate-errors-spki-list=${pin.digest('base64')}`])).toBe(401);
  });
});
