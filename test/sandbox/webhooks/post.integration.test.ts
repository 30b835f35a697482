import { expect, test } from 'vitest';
import { post } from '../../../packages/sandbox/src/webhooks/post.ts';
import { startReceiver } from './receiver.ts';

const delivery = {
  id: 'msg_1',
  webhookId: 'wh_1',
  event: 'feed.published',
  body: '{}',
  createdAtMs: 0,
  attempts: 0,
  dueAtMs: 0,
  status: null,
  error: null,
  deliveredAtMs: null,
};
const webhookAt = (url: string) => ({ id: 'wh_1', url, secret: 'whsec_AAAA', events: [], createdAtMs: 0 });
const options = {
  reach: 'loopback' as const,
  timeoutMs: 20_000,
  signal: new AbortController().signal,
  form: 'standard' as const,
};

test('an address that does not answer in time fails', async () => {
  await using receiver = await startReceiver();
  receiver.answer = () => undefined;
  expect(await post(delivery, webhookAt(receiver.url), { ...options, timeoutMs: 50 })).toEqual({
    status: null,
    error: expect.stringContaining('0.05 s'),
  });
});

test('an address that never ends its answer has answered', async () => {
  await using receiver = await startReceiver();
  receiver.answer = (response) => void response.writeHead(200).write('and so on');
  expect(await post(delivery, webhookAt(receiver.url), options)).toEqual({ status: 200, error: null });
});

test('an address elsewhere, registered when it was allowed, is not asked', async () => {
  expect(await post(delivery, webhookAt('http://192.0.2.1/'), options)).toEqual({
    status: null,
    error: expect.stringContaining('this machine only'),
  });
});

test('only being stopped throws', async () => {
  await using receiver = await startReceiver();
  const stop = new AbortController();
  receiver.answer = () => stop.abort();
  await expect(
    post(delivery, webhookAt(receiver.url), { ...options, timeoutMs: 5000, signal: stop.signal }),
  ).rejects.toThrow('aborted');
});

test.each([
  ['standard', ['webhook-id', 'webhook-signature', 'webhook-timestamp']],
  ['github', ['x-hub-signature-256']],
  ['cloudflare', ['webhook-signature']],
  ['unsigned', []],
] as const)('signed as %s it has the headers of that form', async (form, names) => {
  await using receiver = await startReceiver();
  await post(delivery, webhookAt(receiver.url), { ...options, form });
  const [received] = receiver.received;
  const signing = Object.keys(received?.headers ?? {}).filter((name) => /^(?:webhook-|x-)/.test(name));
  expect(signing.toSorted((one, other) => one.localeCompare(other))).toEqual(names);
});
