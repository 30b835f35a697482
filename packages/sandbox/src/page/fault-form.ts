import { z } from 'zod';
import { faultRule, type FaultRule } from '../faults/fault-rule.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Fault, Faults } from '../faults/faults.ts';

/** One parameter of a fault, as the rule's schema describes it. */
export interface Field {
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: 'integer' | 'number' | 'string' | 'object';
  /** Undefined if any value of the type is valid. */
  readonly choices: readonly string[] | undefined;
  readonly initial: string;
}

interface Property {
  readonly type?: Field['type'];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: string | number | boolean;
}

interface KindSchema {
  readonly properties: Readonly<Record<string, Property>> & { readonly kind: { readonly const: string } };
  readonly required: readonly string[];
}

export const kinds: readonly string[] = faultRule.options.map(({ shape }) => shape.kind.value);

/**
 * Finds the schema of a fault kind. Reading the rule's schema lets the form offer every kind with all its parameters.
 */
function schemaOf(kind: string): KindSchema | undefined {
  // Not built at startup: it takes some milliseconds, and few runs show the form.
  schemas ??= z.toJSONSchema(faultRule, { io: 'input' }).oneOf as unknown as readonly KindSchema[];
  return schemas.find(({ properties }) => properties.kind.const === kind);
}

let schemas: readonly KindSchema[] | undefined;

/**
 * Returns the parameters of a kind: first those for its effect, then those for when and for which requests it applies.
 */
export function fieldsOf(kind: string): Field[] {
  const schema = schemaOf(kind);
  if (!schema) return [];
  const fields = Object.entries(schema.properties)
    .filter(([, property]) => property.const === undefined)
    .map(([name, property]) => fieldOf(name, property, schema.required.includes(name)));
  const isGeneral = ({ name }: Field) => GENERAL.has(name);
  return [...fields.filter((field) => !isGeneral(field)), ...fields.filter(isGeneral)];
}

const GENERAL = new Set(['operation', 'channel_id', 'video_id', 'nth', 'times', 'probability', 'ttl_ms']);

function fieldOf(
  name: string,
  { type = 'string', enum: choices, default: initial }: Property,
  isRequired: boolean,
): Field {
  return {
    name,
    isRequired,
    type,
    choices: choices?.map(String),
    initial: initial === undefined ? '' : String(initial),
  };
}

/** Builds the rule from the form, omitting empty fields. The admin side checks the rule. */
export function ruleIn(form: URLSearchParams): Record<string, unknown> {
  const kind = form.get('kind') ?? '';
  const said = fieldsOf(kind).map(({ name, type }) => [name, type, form.get(name)?.trim() ?? ''] as const);
  const values = said
    .filter(([, , text]) => text !== '')
    .map(([name, type, text]) => [name, valueOf(text, type)] as const);
  return { kind, ...Object.fromEntries(values) };
}

function valueOf(text: string, type: Field['type']): unknown {
  if (type === 'string') return text;
  if (type !== 'object') return Number.isNaN(Number(text)) ? text : Number(text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // the admin side refuses it
  }
}

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
