import { expect, test } from 'vitest';
import { heardIn } from '../../src/fleet/postgres/connection.ts';

test.each(['budget', 'hosts', 'free'])('a host may be called %s: what it writes is heard as rows', (name) => {
  expect(heardIn(name, 'ingest1')).toBe('rows');
  expect(heardIn(name, name)).toBeNull();
  expect(heardIn(':budget', name)).toBe('budget');
  expect(heardIn(':hosts', name)).toBe('hosts');
  expect(heardIn(':free', name)).toBe('rows');
});
