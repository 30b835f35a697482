import { expect, test } from 'vitest';
import { Reachable } from '../../../src/fleet/postgres/reachable.ts';
import { placeAt } from '../../support/postgres/place.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });

test('an attempt that began in an outage and fails after its end begins no other one', () => {
  const said: string[] = [];
  const outage = { began: () => void said.push('began'), ended: () => void said.push('ended') };
  const reachable = new Reachable(placeAt('postgres://ingest@127.0.0.1:5432/dropcast'), outage);
  reachable.answered();
  const { outages } = reachable;
  reachable.translated(refused, outages);
  reachable.answered();
  expect(reachable.translated(refused, outages)).toMatchObject({ message: expect.stringContaining('ECONNREFUSED') });
  expect([said, reachable.awaySince]).toEqual([['began', 'ended'], null]);

  reachable.translated(refused, reachable.outages);
  expect(said).toEqual(['began', 'ended', 'began']);
  expect(reachable.awaySince).not.toBeNull();
});
