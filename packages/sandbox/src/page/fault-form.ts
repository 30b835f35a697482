import { z } from 'zod';
import { faultRule } from '../faults/fault-rule.ts';

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
