import { format, inspect } from 'node:util';
import { expect, it } from 'vitest';
import { secret } from '../../src/config/secret.ts';

const KEY = 'sk_live_abc';

it('gives its value only when asked to reveal it', () => {
  expect(secret(KEY).reveal()).toBe(KEY);
});

it.each([
  ['in a template', (value: unknown) => `key: ${String(value)}`],
  ['in JSON', (value: unknown) => JSON.stringify({ value })],
  ['inspected', (value: unknown) => inspect({ value }, { depth: 9, showHidden: true })],
  ['formatted', (value: unknown) => format('%s %o %O %j', value, value, value, value)],
  ['as an error cause', (value: unknown) => inspect(new Error('x', { cause: value }))],
])('shows [secret] %s', (_, show) => {
  const shown = show(secret(KEY));
  expect(shown).toContain('[secret]');
  expect(shown).not.toContain(KEY);
});

it('has no property that holds the value', () => {
  const kept = secret(KEY);
  expect(JSON.stringify([Object.entries(kept), { ...kept }])).not.toContain(KEY);
  expect(inspect(kept, { customInspect: false, showHidden: true })).not.toContain(KEY);
});
