import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { schemas, type Schema } from './document.ts';

/** One problem with a value, as reported by the validator. */
export type SchemaError = ErrorObject;

/** Returns the problems of a value as sentences that start with the place; empty if the value is valid. */
export function schemaProblems(schema: Schema, value: unknown): string[] {
  return schemaErrors(schema, value).map(sentenceOf);
}

/** Like `schemaProblems`, but returns the validator's own errors. */
export function schemaErrors(schema: Schema, value: unknown): readonly SchemaError[] {
  const validate = validatorOf(schema);
  return validate(value) ? [] : (validate.errors ?? []);
}

/** Checks the text of a parameter or header, parsed according to its schema. */
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
 * Closes a schema for validation, so that objects may have only documented properties. The document itself leaves
 * responses open, because clients must accept new fields, but here an undocumented field is a mistake. Branches of an
 * allOf refine an object that is already closed.
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
