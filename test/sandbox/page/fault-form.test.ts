import { expect, test } from 'vitest';
import { faultRule } from '../../../packages/sandbox/src/faults/fault-rule.ts';
import { fieldsOf, kinds, ruleIn } from '../../../packages/sandbox/src/page/fault-form.ts';

/** A value that the form could be given for each required field. */
const REQUIRED: Readonly<Record<string, string>> = { status: '503', ms: '10', bytes_per_second: '1000', of: 'answer' };

test.each(kinds)('the form of %s, filled with what is required, makes a rule that the service takes', (kind) => {
  const fields = fieldsOf(kind);
  const form = new URLSearchParams({ kind });
  for (const { name, initial, isRequired } of fields) form.set(name, isRequired ? (REQUIRED[name] ?? '') : initial);
  expect(faultRule.parse(ruleIn(form))).toMatchObject({ kind });
});

test('empty fields are left out, numbers are numbers, and fields of another kind are ignored', () => {
  const form = new URLSearchParams('kind=delay&ms=250&operation=videos.get&nth=&times=2&status=503&ttl_ms= 1000 ');
  expect(ruleIn(form)).toEqual({ kind: 'delay', ms: 250, operation: 'videos.get', times: 2, ttl_ms: 1000 });
});

test('header fields are given as JSON', () => {
  const form = new URLSearchParams({ kind: 'status', status: '500', headers: '{"X-Odd":"1"}' });
  expect(faultRule.parse(ruleIn(form))).toMatchObject({ headers: { 'X-Odd': '1' } });
});

test.each(['kind=delay&ms=soon', 'kind=status&status=500&headers=%7B', 'kind=nothing', ''])(
  'the nonsense %j is handed on, and refused by the rule',
  (text) => {
    expect(faultRule.safeParse(ruleIn(new URLSearchParams(text))).success).toBe(false);
  },
);

test('an operation that a kind cannot hit cannot be chosen', () => {
  expect(fieldsOf('expired_address').map(({ name }) => name)).not.toContain('operation');
  expect(fieldsOf('delay').find(({ name }) => name === 'operation')?.choices).toContain('videos.create');
});
