import { describe, expect, test } from 'vitest';
import { faultRule } from '../../../packages/sandbox/src/faults/fault-rule.ts';
import { changedAnswer, type AnswerChange } from '../../../packages/sandbox/src/faults/fault-answers.ts';

const change = (fields: object) => faultRule.parse(fields) as AnswerChange;
const answer = (json: unknown, headers = { 'content-type': 'application/json' }) => ({
  status: 200,
  headers,
  body: Buffer.from(JSON.stringify(json)),
});
const changed = (json: unknown, fields: object) =>
  JSON.parse(changedAnswer(answer(json), change(fields)).body.toString());

describe('changedAnswer', () => {
  test('unknown_status changes every status word, and nothing else', () => {
    const list = { data: [{ id: 'vid_1', status: 'ready' }, { status: 3 }], meta: { page: 1 } };
    expect(changed(list, { kind: 'unknown_status', status: 'archived' })).toEqual({
      data: [{ id: 'vid_1', status: 'archived' }, { status: 3 }],
      meta: { page: 1 },
    });
  });

  test('extra_fields adds fields to every object and changes none', () => {
    const video = { data: { id: 'vid_1', tags: ['a'] } };
    const result = changed(video, { kind: 'extra_fields' });
    expect(result).toMatchObject(video);
    expect(result).toHaveProperty('x_object');
    expect(result.data).toHaveProperty('x_nothing', null);
    expect(result.data.tags).toEqual(['a']);
  });

  test('truncated_json is not valid JSON', () => {
    const { body } = changedAnswer(answer({ data: [1, 2, 3] }), change({ kind: 'truncated_json' }));
    expect(() => JSON.parse(body.toString())).toThrow(SyntaxError);
  });

  test.each([
    ['without a body', { status: 204, headers: {}, body: Buffer.alloc(0) }],
    [
      'that is no JSON',
      { status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.from('{"status":"ready"}') },
    ],
  ])('an answer %s stays as it is', (_what, given) => {
    for (const kind of ['truncated_json', 'wrong_content_type', 'unknown_status', 'extra_fields'])
      expect(changedAnswer(given, change({ kind }))).toBe(given);
  });
});
