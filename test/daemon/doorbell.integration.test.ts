import { copyFile, mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { healthOf } from '../../src/daemon/health.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { SandboxOptions } from '../../packages/sandbox/src/options.ts';
import { idleDaemon } from '../status/page/idle-daemon.ts';
import { until } from '../support/until.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { admin } from '../sandbox/admin/admin-side.ts';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { loadedConfig } from '../support/configuration.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { servedPage } from '../status/page/served-page.ts';

/** A service that rings at a daemon which would otherwise ask only once an hour. */
async function start(stack: AsyncDisposableStack, options: SandboxOptions) {
  const service = stack.use(await runSandbox(options));
  const scratch = stack.use(await scratchDirectory());
  await mkdir(scratch.file('inbox'));
  let daemon: Daemon | undefined;
  const page = stack.use(
    await servedPage({
      daemon: idleDaemon(),
      health: () => healthOf(required(daemon).waits()),
      receive: (webhook) => required(daemon).receive(webhook),
    }),
  );
  const url = `http://127.0.0.1:${page.port}/webhooks`;
  const { id, secret } = (await admin(service, 'POST /webhooks', { url })).body.data;
  const { baseUrl, apiKey } = service.sandbox;
  const config = await loadedConfig(scratch, {
    service: { base_url: baseUrl, api_key: apiKey, webhook_secret: secret },
    poll: { interval: '1h' },
  });
  daemon = stack.use(await startDaemon(config, silentLogger));
  const drop = (name: string) => copyFile(new URL(`../media/${name}`, import.meta.url), scratch.file('inbox', name));
  const outcomes = async () =>
    (await admin(service, `GET /webhooks/${id}/deliveries`)).body.data.map((each: { status: number }) => each.status);
  return { daemon, drop, outcomes, url };
}

function required<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('it is not there yet');
  return value;
}

const states = async (daemon: Daemon) => (await daemon.ledger.rows({ group: 'any', limit: 100 })).map(stateOf);

test('a file is done soon after its video is ready, although the service is polled only once an hour', async () => {
  await using stack = new AsyncDisposableStack();
  const { daemon, drop, outcomes } = await start(stack, { processingMs: { min: 1500, max: 1500 } });
  await drop('clip.mp4');
  await until('the file is done', async () => (await states(daemon)).join() === 'done');
  expect(await outcomes()).toEqual([204]);
});

test('so are files whose videos are ready before the answers to their uploads are read', async () => {
  await using stack = new AsyncDisposableStack();
  const { daemon, drop } = await start(stack, { processingMs: { min: 0, max: 1 } });
  let dropped = 0;
  for (const name of ['clip.mp4', 'camera.mov', 'phone-vertical.mp4']) {
    await drop(name);
    dropped += 1;
    await until(`${name} is done`, async () => {
      const found = await states(daemon);
      return found.length === dropped && found.every((state) => state === 'done');
    });
  }
});

test('a webhook that is not signed rings nothing', async () => {
  await using stack = new AsyncDisposableStack();
  const { url } = await start(stack, {});
  const forged = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': 'v1,AAAA',
  };
  expect((await fetch(url, { method: 'POST', body: '{}', headers: forged })).status).toBe(401);
});
