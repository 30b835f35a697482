import { expect, test } from 'vitest';
import type { NotifyTarget } from '../../packages/notify/src/target.ts';
import { secret } from '../../src/config/secret.ts';
import type { Envelope } from '../../packages/notify/src/message.ts';
import { tryTargets } from '../../packages/notify/src/try-targets.ts';

const webhook = (name: string, timeoutMs: number): NotifyTarget =>
  ({ type: 'webhook', name, url: secret('https://hooks.example.com/secret'), timeoutMs }) as unknown as NotifyTarget;

test('every target is tried at once, past its outbox, and its answer is printed with a place that holds no secret', async () => {
  const sent: (Envelope & { timeoutMs: number })[] = [];
  const answers = await tryTargets([webhook('a', 5_000), webhook('b', 300_000)], {
    now: 7,
    host: 'station',
    send: async ({ name, timeoutMs }, message) => {
      sent.push({ ...message, timeoutMs });
      return name === 'a'
        ? { ok: true, answer: 'answered 200' }
        : { ok: false, why: 'answered 401', mayHaveArrived: false, isRefusal: false };
    },
  });
  const place = 'https://hooks.example.com/…';
  expect(answers).toEqual([
    { name: 'a', type: 'webhook', place, ok: true, answer: 'answered 200' },
    { name: 'b', type: 'webhook', place, ok: false, answer: 'answered 401' },
  ]);
  // Somebody waits at a terminal for it.
  expect(sent.map(({ timeoutMs }) => timeoutMs)).toEqual([5_000, 19_000]);
  expect(sent[0]).toMatchObject({
    type: 'test',
    level: 'info',
    title: 'Test message from dropcast on station',
    id: 'test-7',
    count: 0,
    isRepeat: false,
  });
});
