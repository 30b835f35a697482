import { expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { secret } from '../../src/config/secret.ts';
import { connectToService, ownBudget } from '../../src/daemon/service-connection.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { MemoryStore } from '../pipeline/memory-store.ts';
import { TestClock } from '../pipeline/test-clock.ts';

const service = {
  baseUrl: 'https://one.example/v1',
  apiKey: secret('key'),
  requestsPerHour: 1_000,
  sendKeyTo: [],
  authorities: {},
  honoursIdempotencyKey: false,
  quota: null,
};
const config = { service, folders: [], uploads: { window: null, bandwidth: { otherwise: null, windows: [] } } };

test.each([
  ['another service', { baseUrl: 'https://two.example/v1' }, 0],
  ['another key', { apiKey: secret('other') }, 0],
  ['another setting of the same service', { requestsPerHour: 500 }, 600_000],
])('a reload with %s: what the service reported of its limits', async (_, changed, blockedMs) => {
  const clock = new TestClock();
  const budget = ownBudget({ load: async () => null, save: async () => {} }, clock);
  const events = { emit: () => undefined };
  await using connection = connectToService(config as unknown as Config, {
    budget,
    notes: new MemoryStore(),
    feedLinks: { heard: () => undefined },
    events,
    clock,
    logger: silentLogger,
  });
  const { gate } = connection;
  await gate.take('finish');
  gate.reported({
    limits: [{ name: 'a', remaining: 0, resetMs: 600_000, isPolicyOnly: false }],
    unanswered: 0,
    ignored: [],
  });
  expect(gate.snapshot().blockedMs).toBe(600_000);
  connection.change({ ...config, service: { ...service, ...changed } } as unknown as Config);
  expect(gate.snapshot()).toMatchObject({ used: 1, blockedMs });
});
