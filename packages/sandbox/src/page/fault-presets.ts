import { faultRule, type FaultRule, type FaultKind } from '../faults/fault-rule.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Fault, Faults } from '../faults/faults.ts';

/** A common fault with a single button to switch it on and off. */
export interface Preset {
  readonly name: string;
  readonly label: string;
  readonly rule: FaultRule;
}

/** Lifetime of a preset, so that a forgotten one expires. */
const TTL_MS = 15 * 60_000;

function preset(name: string, label: string, rule: object): Preset {
  return { name, label, rule: faultRule.parse({ ...rule, ttl_ms: TTL_MS }) };
}

export const presets: readonly Preset[] = [
  preset('rate-limited', 'Too many requests: 429 with Retry-After 5', { kind: 'rate_limited', seconds: 5 }),
  preset('server-error', 'All requests fail with 500', { kind: 'status', status: 500 }),
  preset('flaky', 'One request in four fails with 503', { kind: 'status', status: 503, probability: 0.25 }),
  preset('html-502', 'A proxy answers: HTML 502', { kind: 'html_502' }),
  preset('slow', 'Answers take 2 s longer', { kind: 'delay', ms: 2000 }),
  preset('truncated', 'JSON is cut off', { kind: 'truncated_json' }),
  preset('create-lost', 'A video is created, but the response is lost', {
    kind: 'answer_lost',
    operation: 'videos.create',
  }),
  preset('upload-reset', 'Uploads are reset after 64 KiB', {
    kind: 'reset',
    operation: 'uploads.put',
    of: 'request',
    after_bytes: 65_536,
  }),
  preset('upload-expired', 'Upload addresses have expired', { kind: 'expired_address' }),
  preset('stuck', 'Processing never ends', { kind: 'stuck_processing' }),
  preset('processing-fails', 'Processing fails', { kind: 'failed_processing' }),
  preset('unknown-status', 'Videos have an unknown status', { kind: 'unknown_status' }),
];

/** Returns the active faults that match the preset. */
export function activeOf({ rule }: Preset, faults: Faults): Fault[] {
  return faults.list().filter((fault) => isDeepStrictEqual(fault.rule, rule));
}

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
