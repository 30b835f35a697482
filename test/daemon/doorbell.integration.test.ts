import { copyFile, mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { healthOf } from '../../src/daemon/health.ts';
import { startDaemon, type Daemon } from '../../src/daemon/daemon.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Admission, Webhook } from '../../src/host/admit-webhook.ts';
import type { SandboxOptions } from '../../packages/sandbox/src/options.ts';
import type { Switches } from '../../packages/sandbox/src/profiles/switch-table.ts';
import { idleDaemon } from '../status/page/idle-daemon.ts';
import { until } from '../support/until.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { admin } from '../sandbox/admin/admin-side.ts';
import { settingsOfForm } from '../sandbox/webhooks/settings-of-form.ts';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { loadedConfig } from '../support/configuration.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { servedPage } from '../status/page/served-page.ts';
import { signatureHeaders } from '../../packages/sandbox/src/webhooks/post.ts';

type Form = Switches['webhook_form'];
type Received = Pick<Webhook, 'headers'> & { readonly body: Buffer; readonly admission: Admission };

/** A service that rings at a daemon which would otherwise ask only once an hour. */
async function start(stack: AsyncDisposableStack, options: SandboxOptions, form: Form = 'standard') {
  const service = stack.use(await runSandbox({ ...options, switches: { webhook_form: form } }));
  const scratch = stack.use(await scratchDirectory());
  await mkdir(scratch.file('inbox'));
  let daemon: Daemon | undefined;
  const received: Received[] = [];
  const page = stack.use(
    await servedPage({
      daemon: idleDaemon(),
      health: () => healthOf(required(daemon).waits()),
      receive: (webhook) => {
        const admission = required(daemon).receive(webhook);
        if (webhook.body !== null) received.push({ ...webhook, body: Buffer.from(webhook.body), admission });
        return admission;
      },
    }),
  );
  const url = `http://127.0.0.1:${page.port}/webhooks`;
  const { id, secret } = (await admin(service, 'POST /webhooks', { url })).body.data;
  const { baseUrl, apiKey } = service.sandbox;
  const config = await loadedConfig(scratch, {
    service: { base_url: baseUrl, api_key: apiKey, webhook_secret: secret, ...settingsOfForm[form] },
    poll: { interval: '1h' },
  });
  daemon = stack.use(await startDaemon(config, silentLogger));
  const drop = (name: string) => copyFile(new URL(`../media/${name}`, import.meta.url), scratch.file('inbox', name));
  const outcomes = async () =>
    (await admin(service, `GET /webhooks/${id}/deliveries`)).body.data.map((each: { status: number }) => each.status);
  const sweeps = () => service.sandbox.requests().filter(({ operation }) => operation === 'videos.list').length;
  return { daemon, drop, outcomes, url, received, secret, sweeps };
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

const forms = ['standard', 'github', 'bunny', 'mux', 'cloudflare'] as const satisfies readonly Form[];

test.each(forms)('in the form of %s, a signed webhook rings once, however often it is sent', async (form) => {
  await using stack = new AsyncDisposableStack();
  const { daemon, drop, received, url, sweeps } = await start(stack, { processingMs: { min: 1500, max: 1500 } }, form);
  await drop('clip.mp4');
  await until('the file is done', async () => (await states(daemon)).join() === 'done');
  await until('the webhook has been taken', () => received.length > 0);
  const { headers, body, admission } = required(received[0]);
  expect(admission).toBe('taken');
  const before = sweeps();
  const own = new Set(['connection', 'content-length', 'host', 'transfer-encoding']);
  const sent = [...new Headers(headers as Headers)].filter(([name]) => !own.has(name));
  const answers = Array.from({ length: 3 }, () =>
    fetch(url, { method: 'POST', headers: sent, body: new Uint8Array(body) }),
  );
  for (const { status } of await Promise.all(answers)) expect(status).toBe(204);
  expect(received.slice(-3).map((each) => each.admission)).toEqual(['repeated', 'repeated', 'repeated']);
  expect(sweeps()).toBe(before);
  const changed = new Uint8Array([...body, 32]);
  expect((await fetch(url, { method: 'POST', headers: sent, body: changed })).status).toBe(401);
});

test('a webhook that says nothing that dropcast knows rings, too', async () => {
  await using stack = new AsyncDisposableStack();
  // The service's own webhooks are not signed here, so they ring nothing.
  const options = { processingMs: { min: 1500, max: 1500 } };
  const { daemon, drop, outcomes, received, url, secret } = await start(stack, options, 'unsigned');
  await drop('clip.mp4');
  await until('the video is ready, and its webhook was refused', async () => (await outcomes()).join() === '401');
  expect(await states(daemon)).toEqual(['processing']);
  const body = '{"VideoLibraryId":133,"VideoGuid":"657bb740-a71b-4529-a012-528021c31a92","Status":3}';
  const signed = { id: 'msg_1', timestampS: Math.floor(Date.now() / 1000), body };
  const headers = new Headers(signatureHeaders(signed, secret, 'standard') as Record<string, string>);
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(204);
  await until('the file is done', async () => (await states(daemon)).join() === 'done');
  expect(received.map(({ admission }) => admission)).toEqual(['taken']);
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
