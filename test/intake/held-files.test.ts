import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHeldFiles } from '../../src/intake/stopped-files.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { failure, someFacts } from '../pipeline/some-facts.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const held = (id: string, code: string | null): Facts => {
  const lastFailure = code === null ? null : failure('permanent', { code });
  return someFacts({ id, plan: null, end: 'held', why: 'held', endedAt: 3, lastFailure });
};

const rows = [
  held('without code', null),
  held('no rule', 'no_rule'),
  held('sidecar', 'sidecar'),
  held('flawed', 'flawed'),
];

function open(reroute: (facts: Facts) => Promise<boolean>) {
  const errors: string[] = [];
  const ignore = (): void => undefined;
  const logger = { error: (message: string) => void errors.push(message), warn: ignore, info: ignore, debug: ignore };
  const store = { rows: () => Promise.resolve(rows) };
  return { errors, held: createHeldFiles({ store, logger, reroute, intervalMs: () => 60_000 }) };
}

test('all are routed again when asked, and at each interval those that a sidecar may hold', async () => {
  const asked: string[] = [];
  const { held: files } = open(async ({ id }) => asked.push(id) > 0);
  await files.rerouteAll();
  expect(asked.splice(0)).toEqual(['without code', 'no rule', 'sidecar', 'flawed']);
  files.start();
  await vi.advanceTimersByTimeAsync(59_999);
  expect(asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked.splice(0)).toEqual(['without code', 'sidecar']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual(['without code', 'sidecar']);
  await files[Symbol.asyncDispose]();
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['fails', () => Promise.reject(new Error('the disk is full'))],
  ['is not possible for one of them', () => Promise.resolve(false)],
])('routing all again is repeated by the next check if it %s', async (_what, first) => {
  const asked: string[] = [];
  const { held: files } = open(async ({ id }) => {
    asked.push(id);
    return asked.length === 1 ? first() : true;
  });
  await files.rerouteAll().catch(() => undefined);
  asked.splice(0, asked.length, 'before');
  files.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.splice(0)).toEqual(['before', 'without code', 'no rule', 'sidecar', 'flawed']);
  asked.push('before');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual(['before', 'without code', 'sidecar']);
  await files[Symbol.asyncDispose]();
});

test('a check that fails is logged, and the next one comes', async () => {
  let checks = 0;
  const { held: files, errors } = open(() => {
    checks += 1;
    return Promise.reject(new Error('the ledger is full'));
  });
  files.start();
  await vi.advanceTimersByTimeAsync(120_000);
  expect([checks, errors.length]).toEqual([2, 2]);
  await files[Symbol.asyncDispose]();
});

test('closed in the middle of a check, it ends after the file at hand, and sets no timer', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const asked: string[] = [];
  const { held: files } = open(async ({ id }) => {
    asked.push(id);
    await released;
    return true;
  });
  files.start();
  await vi.advanceTimersByTimeAsync(60_000);
  let isClosed = false;
  const closing = Promise.resolve(files[Symbol.asyncDispose]()).then(() => (isClosed = true));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(isClosed).toBe(false);
  release();
  await closing;
  files.start();
  expect(asked).toEqual(['without code']);
  expect(vi.getTimerCount()).toBe(0);
});
