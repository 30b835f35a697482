import { describe, expect, test } from 'vitest';
import { faultRule } from '../../../packages/sandbox/src/faults/fault-rule.ts';

describe('a rule', () => {
  test('has its defaults filled in', () => {
    expect(faultRule.parse({ kind: 'status', status: 503 })).toEqual({
      kind: 'status',
      operation: '*',
      status: 503,
      message: expect.any(String),
    });
  });

  test.each([
    ['drop_after_create', 'videos.create'],
    ['expired_address', 'uploads.put'],
    ['second_put_refused', 'uploads.put'],
    ['stuck_processing', '*'],
  ])('%s is about %s alone', (kind, operation) => {
    expect(faultRule.parse({ kind })).toMatchObject({ operation });
    expect(faultRule.safeParse({ kind, operation: 'videos.list' }).success).toBe(false);
  });

  test.each([
    ['no kind', {}],
    ['an unknown kind', { kind: 'explode' }],
    ['an unknown operation', { kind: 'html_502', operation: 'videos.steal' }],
    ['an unknown field', { kind: 'html_502', tiems: 1 }],
    ['a field of another kind', { kind: 'html_502', ms: 1 }],
    ['a missing parameter', { kind: 'delay' }],
    ['a status that is no error', { kind: 'status', status: 200 }],
    ['probability 0', { kind: 'html_502', probability: 0 }],
    ['probability above 1', { kind: 'html_502', probability: 1.1 }],
    ['nth 0', { kind: 'html_502', nth: 0 }],
    ['half a time', { kind: 'html_502', times: 0.5 }],
    ['a time to live beyond a month', { kind: 'html_502', ttl_ms: 1e12 }],
    ['a header that would break the answer in two', { kind: 'status', status: 500, headers: { a: 'b\r\nc: d' } }],
    ['a header of the framing', { kind: 'status', status: 500, headers: { 'Content-Length': '1' } }],
    ['a broken Location', { kind: 'redirect', location: 'a\nb' }],
    ['a direction that does not exist', { kind: 'reset', of: 'everything' }],
    ['no direction', { kind: 'stall', after_bytes: 3 }],
  ])('with %s is refused', (_what, rule) => expect(faultRule.safeParse(rule).success).toBe(false));
});
