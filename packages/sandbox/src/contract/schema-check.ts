import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { schemas, type Schema } from './document.ts';

/** One thing that is wrong with a value, as the validator reports it. */
export type SchemaError = ErrorObject;

/** The problems of a value, as sentences that begin with the place; none when it is valid. */
export function schemaProblems(schema: Schema, value: unknown): string[] {
  return schemaErrors(schema, value).map(sentenceOf);
}

/** The same, as the validator reports it. */
export function schemaErrors(schema: Schema, value: unknown): readonly SchemaError[] {
  const validate = validatorOf(schema);
  return validate(value) ? [] : (validate.errors ?? []);
}

/** Checks a parameter or header, a text in the form that its schema describes. */
export function textProblems(schema: Schema, text: string): string[] {
  const isNumber = schema.type === 'integer' && /^-?\d+$/.test(text);
  return schemaProblems(schema, isNumber ? Number(text) : text);
}

const validators = new Map<Schema, ValidateFunction>();
const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
ajv.addVocabulary(['x-source', 'x-assumption']);
formats.default(ajv);
ajv.addSchema({ $id: 'contract', $defs: closed(schemas, false) as Record<string, unknown> });

function validatorOf(schema: Schema): ValidateFunction {
  const known = validators.get(schema);
  if (known) return known;
  const validator = ajv.compile(closed(schema, false) as Schema);
  validators.set(schema, validator);
  return validator;
}

/**
 * The schema for judging: an object may have only the properties that the contract names. The document itself leaves
 * answers open, because a client has to accept new fields; here an undocumented field is a mistake. The branches of an
 * allOf refine what is closed already.
 */
function closed(schema: unknown, isRefinement: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((item) => closed(item, isRefinement));
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === '$ref') return [key, String(value).replace('#/components/schemas/', 'contract#/$defs/')];
      return [key, closed(value, isRefinement || key === 'allOf')];
    }),
  );
  const isOpen = isSchemaOfObject(copy) && !('additionalProperties' in copy) && !isRefinement;
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}

function isSchemaOfObject(schema: Record<string, unknown>): boolean {
  return schema['type'] === 'object' && typeof schema['properties'] === 'object';
}

function sentenceOf({ instancePath, message, params }: SchemaError): string {
  const extra = 'additionalProperty' in params ? ` (${JSON.stringify(params['additionalProperty'])})` : '';
  return `${instancePath || '/'} ${message ?? 'is not valid'}${extra}`;
}
