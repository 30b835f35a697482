import { ApiError, codeOfStatus } from '../http/api-error.ts';
import type { EarlyAnswer } from '../http/exchange.ts';
import type { FaultOf } from './fault-rule.ts';

/** Faults that only send a response: no key is checked, no request counted and no body read. */
export type Refusal = FaultOf<
  'status' | 'rate_limited' | 'html_502' | 'redirect' | 'expired_address' | 'second_put_refused'
>;

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
