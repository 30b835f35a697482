import { ApiError, codeOfStatus } from '../http/api-error.ts';
import type { EarlyAnswer } from '../http/exchange.ts';
import type { FaultOf } from './fault-rule.ts';
import type { HeldAnswer } from './held-answer.ts';

/** Faults that only send a response: no key is checked, no request counted and no body read. */
type Refusal = FaultOf<'status' | 'rate_limited' | 'html_502' | 'redirect' | 'expired_address' | 'second_put_refused'>;

/** Builds the response for a fault. Pure. @param nowMs by the sandbox's clock */
export function answerInstead(fault: Refusal, nowMs: number): EarlyAnswer {
  switch (fault.kind) {
    case 'status':
      return errorAnswer(
        fault.status,
        { code: fault.code ?? codeOfStatus(fault.status), message: fault.message },
        fault.headers,
      );
    case 'rate_limited':
      return errorAnswer(429, { code: 'rate_limited', message: 'Too many requests.' }, waitHeaders(fault, nowMs));
    case 'html_502':
      return { status: 502, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: PROXY_PAGE };
    case 'redirect':
      return errorAnswer(
        fault.status,
        { code: 'moved', message: 'The resource has moved.' },
        { Location: fault.location },
      );
    case 'expired_address':
      return refusalAnswer(new ApiError('forbidden', 'This upload address has expired.'));
    default:
      return refusalAnswer(new ApiError('conflict', 'This video already has its file.'));
  }
}

/** The page that nginx sends when its upstream is down. */
const PROXY_PAGE = `<html>
<head><title>502 Bad Gateway</title></head>
<body>
<center><h1>502 Bad Gateway</h1></center>
</body>
</html>
`;

/**
 * Builds `Retry-After`. A date is sent along with a `Date` header: both follow the sandbox's clock, so only their
 * difference is meaningful (RFC 9110 section 10.2.3).
 */
function waitHeaders(fault: FaultOf<'rate_limited'>, nowMs: number): Readonly<Record<string, string>> {
  switch (fault.retry_after) {
    case 'seconds':
      return { 'Retry-After': String(fault.seconds) };
    case 'date':
      return { 'Retry-After': httpDate(nowMs + fault.seconds * 1000), Date: httpDate(nowMs) };
    case 'absent':
      return {};
    default:
      return { 'Retry-After': fault.text };
  }
}

function httpDate(atMs: number): string {
  return new Date(atMs).toUTCString();
}

function refusalAnswer({ status, code, message }: ApiError): EarlyAnswer {
  return errorAnswer(status, { code, message });
}

function errorAnswer(
  status: number,
  error: { readonly code: string; readonly message: string },
  headers: Readonly<Record<string, string>> = {},
): EarlyAnswer {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify({ error }) };
}

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
