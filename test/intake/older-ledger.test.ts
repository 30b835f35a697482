import { expect, test } from 'vitest';
import { doubted } from '../../src/intake/first-start.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { created, someFacts, uploaded } from '../pipeline/some-facts.ts';

const held = (code: string): Partial<Facts> => ({
  end: 'held',
  why: 'no',
  endedAt: 1,
  lastFailure: { kind: 'permanent', code, message: 'no' },
});

const ignored: Partial<Facts> = { ...held('ignored'), end: 'skipped' };

const asked = { uploadStartedAt: expect.any(Number) };
const recorded = { end: 'skipped', lastFailure: expect.objectContaining({ code: 'existing' }) };

test.each([
  ['a file that waits', {}, recorded, {}],
  ['a file with a record whose upload has not begun', created, asked, asked],
  ['a file that was sent', uploaded, {}, {}],
  ['a file that no rule takes', held('no_rule'), recorded, {}],
  ['a file that was there before', held('existing'), {}, {}],
  ['a file that dropcast may not read', held('unreadable'), recorded, {}],
  ['a file that is ignored', ignored, recorded, {}],
  ['a file that is ignored and had a record', { ...created, ...ignored }, recorded, {}],
  ['a directory that is closed', held('closed_directory'), {}, {}],
])('in a ledger that is an older copy, %s', (_, other, adopted, resumed) => {
  const facts = someFacts(other);
  const change = doubted(facts, true, 5);
  expect(change).toMatchObject(adopted);
  expect(Object.keys(change).length === 0).toBe(adopted !== recorded && adopted !== asked);
  expect(doubted(facts, false, 5)).toMatchObject(resumed);
  if (adopted === recorded) expect(stateOf({ ...facts, ...change })).toBe('skipped');
});
