import type { FaultOf } from './fault-rule.ts';
import type { HeldAnswer } from './held-answer.ts';

/** Faults that change the response after the request was carried out. */
export type AnswerChange = FaultOf<'truncated_json' | 'wrong_content_type' | 'unknown_status' | 'extra_fields'>;

/** Returns the changed response. Responses without a JSON body stay unchanged. Pure. */
export function changedAnswer(answer: HeldAnswer, change: AnswerChange): HeldAnswer {
  const json = jsonOf(answer);
  if (json === undefined) return answer;
  switch (change.kind) {
    case 'truncated_json':
      return { ...answer, body: answer.body.subarray(0, Math.floor(answer.body.length / 2)) };
    case 'wrong_content_type':
      return { ...answer, headers: { ...answer.headers, 'content-type': change.content_type } };
    case 'unknown_status':
      return withJson(answer, withStatus(json, change.status));
    default:
      return withJson(answer, withExtraFields(json));
  }
}

function jsonOf({ headers, body }: HeldAnswer): unknown {
  if (body.length === 0 || !/^application\/json\b/i.test(String(headers['content-type']))) return undefined;
  return JSON.parse(body.toString());
}

function withJson(answer: HeldAnswer, json: unknown): HeldAnswer {
  return { ...answer, body: Buffer.from(JSON.stringify(json)) };
}

/** Replaces every status: in a video, in each video of a list, in a publish result. */
function withStatus(json: unknown, status: string): unknown {
  return everyObject(json, (object) => (typeof object['status'] === 'string' ? { ...object, status } : object));
}

/** Adds fields of every JSON type to each object, with names that appear in no specification. */
function withExtraFields(json: unknown): unknown {
  const extra = { x_text: 'new', x_number: 1.5, x_nothing: null, x_list: [1, 'two'], x_object: { deep: true } };
  return everyObject(json, (object) => ({ ...extra, ...object, ...extra }));
}

function everyObject(json: unknown, change: (object: Record<string, unknown>) => unknown): unknown {
  if (Array.isArray(json)) return json.map((item) => everyObject(item, change));
  if (typeof json !== 'object' || json === null) return json;
  return change(Object.fromEntries(Object.entries(json).map(([name, value]) => [name, everyObject(value, change)])));
}
