import type { FaultKind, FaultRule } from './fault-rule.ts';

/** Describes a fault kind's effect on a request in a few words. Returns any other text unchanged. */
export function kindInWords(kind: string): string {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind as FaultKind] : kind;
}

const KINDS: Readonly<Record<FaultKind, string>> = {
  status: 'error status',
  rate_limited: 'rate limited',
  html_502: '502 page of a proxy',
  redirect: 'redirect',
  expired_address: 'upload address expired',
  second_put_refused: 'upload refused as a repeat',
  delay: 'delayed answer',
  slow_read: 'body read slowly',
  stall: 'connection stalls',
  reset: 'connection reset',
  answer_lost: 'carried out, answer lost',
  drop_after_create: 'created, answer lost',
  truncated_json: 'JSON cut off',
  wrong_content_type: 'wrong Content-Type',
  unknown_status: 'unknown video status',
  extra_fields: 'extra fields',
  stuck_processing: 'processing never ends',
  failed_processing: 'processing fails',
};

/** Describes a fault's effect on each request that it hits, as a sentence without the full stop. */
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
      return 'Answers 409, as if the video already had its file';
    case 'delay':
      return `Answers ${rule.ms} ms late`;
    case 'slow_read':
      return `Reads the body at ${rule.bytes_per_second} bytes per second`;
    case 'stall':
      return `Stalls after ${rule.after_bytes} bytes of the ${rule.of}`;
    case 'reset':
      return `Resets the connection after ${rule.after_bytes} bytes of the ${rule.of}`;
    case 'answer_lost':
      return 'Carries out the request, then closes the connection without an answer';
    case 'drop_after_create':
      return 'Creates the video, then closes the connection without an answer';
    case 'truncated_json':
      return 'Answers with only the first half of the JSON';
    case 'wrong_content_type':
      return `Labels the JSON of the answer as ${rule.content_type}`;
    case 'unknown_status':
      return `Gives each video the status ${rule.status}, which the specification does not know`;
    case 'extra_fields':
      return 'Adds fields to every object that the specification does not know';
    case 'stuck_processing':
      return 'Keeps the video in processing forever';
    case 'failed_processing':
      return `Makes processing fail with ${rule.code}`;
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
