import type { FaultKind, FaultRule } from './fault-rule.ts';

/** What a fault of this kind does to a request, in a few words. Any other text stays as it is. */
export function kindInWords(kind: string): string {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind as FaultKind] : kind;
}

const KINDS: Readonly<Record<FaultKind, string>> = {
  status: 'error instead of an answer',
  rate_limited: 'too many requests',
  html_502: 'HTML of a proxy, 502',
  redirect: 'redirect',
  expired_address: 'upload address expired',
  second_put_refused: 'refused as a second upload',
  delay: 'late answer',
  slow_read: 'body read slowly',
  stall: 'connection stalls',
  reset: 'connection reset',
  answer_lost: 'done, but answer lost',
  drop_after_create: 'created, but answer lost',
  truncated_json: 'JSON cut off',
  wrong_content_type: 'JSON called something else',
  unknown_status: 'unknown status',
  extra_fields: 'unknown fields',
  stuck_processing: 'processing never ends',
  failed_processing: 'processing fails',
};

/** What the fault does to each request that it hits, as a sentence without its full stop. */
export function faultInWords(rule: FaultRule): string {
  switch (rule.kind) {
    case 'status':
      return `Answers ${rule.status} and does nothing`;
    case 'rate_limited':
      return `Answers 429 ${retryAfterInWords(rule)} and does nothing`;
    case 'html_502':
      return 'Answers 502 with the HTML page of a proxy and does nothing';
    case 'redirect':
      return `Redirects to ${rule.location} with ${rule.status}`;
    case 'expired_address':
      return 'Answers 403, as if the upload address had expired';
    case 'second_put_refused':
      return 'Answers 409, as if the video had its file already';
    case 'delay':
      return `Answers ${rule.ms} ms late`;
    case 'slow_read':
      return `Reads the body at ${rule.bytes_per_second} bytes per second`;
    case 'stall':
      return `Stalls after ${rule.after_bytes} bytes of the ${rule.of}`;
    case 'reset':
      return `Resets the connection after ${rule.after_bytes} bytes of the ${rule.of}`;
    case 'answer_lost':
      return 'Carries the request out and closes the connection without an answer';
    case 'drop_after_create':
      return 'Creates the video and closes the connection without an answer';
    case 'truncated_json':
      return 'Answers with the first half of the JSON';
    case 'wrong_content_type':
      return `Calls its JSON ${rule.content_type}`;
    case 'unknown_status':
      return `Gives videos the status ${rule.status}, which no specification has`;
    case 'extra_fields':
      return 'Adds fields that no specification has to every object';
    case 'stuck_processing':
      return 'Never ends the processing';
    case 'failed_processing':
      return `Lets the processing fail with ${rule.code}`;
    default:
      return rule satisfies never;
  }
}

function retryAfterInWords(rule: Extract<FaultRule, { kind: 'rate_limited' }>): string {
  switch (rule.retry_after) {
    case 'seconds':
      return `with Retry-After: ${rule.seconds}`;
    case 'date':
      return `with a date in ${rule.seconds} s as Retry-After`;
    case 'absent':
      return 'without Retry-After';
    default:
      return `with Retry-After: ${rule.text}`;
  }
}
