import { readFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

import { startSandbox, type Sandbox } from '../../packages/sandbox/src/sandbox.ts';
import { certificateIn } from '../../packages/sandbox/src/tls.ts';
import { startProxy } from '../security/proxy.ts';
import { writeConfig } from '../support/configuration.ts';
import type { Settings } from '../support/configuration.ts';
import { freePort } from '../support/free-port.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { listen } from '../support/server.ts';
import { until } from '../support/until.ts';
import { dropcast } from './dropcast-process.ts';
import { startStation, stationSettings } from './station.ts';
import type { Station } from './station.ts';

const clip = await readFile(join(import.meta.dirname, '../media/clip.mp4'));

const folders = [{ rescan: '2s' }];

const apiKey = 'sk_of_the_connections_91c5';

/** The service by name, as its certificate has it. */
const service = (port: number) => ({ base_url: `https://localhost:${port}/v1`, api_key: apiKey });

/** Why `status` says that everything waits. */
async function waitsFor(station: Station, why: string): Promise<void> {
  const saying = async () => (await dropcast(['status', '--config', station.scratch.config])).stdout;
  let last = '';
  const look = async () => (last = (await saying()).replaceAll(/\s+/g, ' ')).includes(why);
  await until(`status says: ${why}`, look, { seen: () => last });
}

/** The file is on the service, once, and ready. */
async function arrives(station: Station, sandbox: Sandbox, name: string): Promise<void> {
  await station.reaches(name, 'done');
  expect(sandbox.requests().filter(({ operation }) => operation === 'videos.create')).toHaveLength(1);
  expect(sandbox.files()).toHaveLength(1);
}

const startSecure = (port = 0, dataDir?: string): Promise<Sandbox> =>
  startSandbox({ tls: true, apiKey, port, processingMs: { min: 10, max: 20 }, ...(dataDir && { dataDir }) });

test.concurrent('an own authority: status names tls.ca, and a reload with it for this host sends the file', async () => {
  await using sandbox = await startSecure();
  const settings: Settings = { service: service(sandbox.port) };
  await using station = await startStation({ settings, folders });
  await station.drop('clip.mp4', clip);
  await waitsFor(station, 'an authority that this machine does not trust; if that is your own authority, or that of');
  await waitsFor(station, 'name its file in tls.ca');

  const reloadWith = async (...hosts: readonly string[]) => {
    const ca = Object.fromEntries(hosts.map((host) => [host, sandbox.caPath ?? '']));
    const changed = stationSettings(station.host, { settings: { ...settings, tls: { ca } }, folders });
    await writeConfig(station.scratch, changed);
    const checked = await dropcast(['check', '--online', '--config', station.scratch.config]);
    expect(await dropcast(['reload', '--config', station.scratch.config])).toMatchObject({ code: 0 });
    return checked.stdout + checked.stderr;
  };
  expect(await reloadWith('video.example.com')).toContain('name its file in tls.ca');
  expect(sandbox.requests()).toEqual([]);
  // The service is trusted now, the host of its upload addresses is not.
  expect(await reloadWith('localhost')).not.toContain('tls.ca');
  await waitsFor(station, `${sandbox.uploadOrigin} cannot be reached: its certificate`);
  await reloadWith('localhost', '127.0.0.1');
  await arrives(station, sandbox, 'clip.mp4');
  const listed = await dropcast(['channels', 'list', '--config', station.scratch.config]);
  expect(listed).toMatchObject({ code: 0, stderr: '' });
});

test.concurrent('a proxy with a wrong password: status names proxy and variable, and the right one sends the file', async () => {
  await using sandbox = await startSecure();
  await using proxy = await startProxy(sandbox.port, { login: 'ann:right/one' });
  const settings: Settings = { service: service(sandbox.port), tls: { ca: sandbox.caPath ?? '' } };
  const env = { HTTPS_PROXY: `http://ann:wr0ng-one@127.0.0.1:${proxy.port}` };
  await using station = await startStation({ settings, folders, env });
  await station.drop('clip.mp4', clip);
  await waitsFor(station, `the proxy ${proxy.origin} of HTTPS_PROXY refuses the user name and password in that`);
  const told = await dropcast(['show', 'clip.mp4', '--config', station.scratch.config]);
  const { stdout, stderr } = await station.daemon().kill('SIGTERM');
  const failures = await readFile(station.scratch.file('state', 'failures.jsonl'), 'utf8').catch(() => '');
  expect(told.stdout + stdout + stderr + failures).not.toContain('wr0ng-one');
  expect(sandbox.requests()).toEqual([]);

  env.HTTPS_PROXY = `http://ann:right%2Fone@127.0.0.1:${proxy.port}`;
  await station.start();
  await arrives(station, sandbox, 'clip.mp4');
  const tunnels = ['localhost', '127.0.0.1'].map((host) => `CONNECT ${host}:${sandbox.port}`);
  expect(new Set(proxy.asked)).toEqual(new Set(tunnels));
  expect(Buffer.concat(proxy.passed).includes(apiKey)).toBe(false);
});

test.concurrent('a slow name server, and IPv6 that leads nowhere: files still arrive', async () => {
  await using sandbox = await startSecure();
  await using scratch = await scratchDirectory();
  const answers = await scratch.write('answers', 'EAI_AGAIN');
  const preload = pathToFileURL(join(import.meta.dirname, 'slow-names.mjs')).href;
  const env = { NODE_OPTIONS: `--import=${preload}`, SLOW_NAMES: answers };
  const settings: Settings = { service: service(sandbox.port), tls: { ca: sandbox.caPath ?? '' } };
  await using station = await startStation({ settings, folders, env });
  await station.drop('clip.mp4', clip);
  await waitsFor(
    station,
    'its name cannot be resolved at the moment; check the name server of this machine (EAI_AGAIN)',
  );
  // Nothing listens at ::1.
  await scratch.write('answers', '1500 ::1 127.0.0.1');
  await arrives(station, sandbox, 'clip.mp4');
});

test.concurrent('a service that speaks only HTTP/2: status says so, no record is made, and with HTTP/1.1 files arrive', async () => {
  await using scratch = await scratchDirectory();
  const port = await freePort();
  const { cert, key, caPath } = await certificateIn({ folder: scratch.path, hosts: [], nowMs: Date.now() });
  const settings: Settings = { service: service(port), tls: { ca: caPath } };
  await using station = await startStation({ settings, folders, isStarted: false });
  {
    const asked: string[] = [];
    const server = createSecureServer({ cert, key }, ({ url }) => void asked.push(url));
    await using _ = await listen(server, 'https', port);
    await station.start();
    await station.drop('clip.mp4', clip);
    await waitsFor(station, `https://localhost:${port} cannot be reached: it speaks only HTTP/2; allow HTTP/1.1 there`);
    expect(asked).toEqual([]);
  }
  await using sandbox = await startSecure(port, scratch.path);
  await arrives(station, sandbox, 'clip.mp4');
});
