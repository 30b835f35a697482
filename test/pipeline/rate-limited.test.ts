import { expect, test } from 'vitest';
import { budgetOfOneHost } from '../../src/host/budget-store.ts';
import { emptyWindow } from '../../src/host/budget-window.ts';
import { createGate } from '../../src/host/gate.ts';
import { budgetOf, createUnsentCreates } from '../../src/host/request-gate.ts';
import { FakeHost } from './fake-host.ts';
import { files, minute, outside, startCore } from './running-core.ts';
import { failure } from './some-facts.ts';

/** Lets everything go on that needs no time. */
async function turns(): Promise<void> {
  for (let n = 0; n < 200; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('a 429 with Retry-After 1800 on a create while 20 uploads run: no request before that time, and the uploads finish', async () => {
  const world = outside(files(60));
  const { clock } = world;
  const service = new FakeHost();
  const uploads = Promise.withResolvers<void>();
  service.uploadGate = uploads.promise;
  await using gate = createGate({
    store: budgetOfOneHost({ load: async () => emptyWindow, save: async () => undefined }, clock, () => 0),
    limit: 1_000,
    clock,
  });
  const budget = budgetOf(
    gate,
    createUnsentCreates(() => 0),
  );
  const { host, library } = service;
  let isLimited = false;
  const polls = new AbortController();
  const core = startCore(
    { ...world, service },
    {
      budget,
      host: {
        ...host,
        create: async (...asked) => {
          if (!isLimited) return host.create(...asked);
          service.asked.push('create');
          gate.throttled(1_800_000);
          return { ok: false, failure: failure('throttled', { status: 429, retryAfterMs: 1_800_000 }) };
        },
      },
      library: {
        ...library,
        list: async (...asked) => {
          await gate.take('poll', polls.signal);
          return library.list(...asked);
        },
      },
    },
    { uploads: 20 },
  );
  await core.until(() => service.sending === 20);
  isLimited = true;
  await core.until(() => gate.snapshot().blockedMs > 0);
  await turns();
  const before = service.asked.length;
  isLimited = false;
  uploads.resolve();
  await core.until(() => service.sending === 0);
  for (let passed = 0; passed < 29; passed += 1) {
    clock.advance(minute);
    gate.setLimit(1_000);
    core.conductor.wake();
    await turns();
  }
  expect(service.asked.slice(before).filter((name) => name !== 'send')).toEqual([]);
  expect(core.store.all.filter(({ uploadedAt }) => uploadedAt !== null).length).toBeGreaterThanOrEqual(20);
  clock.advance(2 * minute);
  gate.setLimit(1_000);
  await turns();
  expect(service.asked.slice(before).filter((name) => name !== 'send').length).toBeGreaterThan(0);
  polls.abort();
});
