import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { packageFile } from '../package-files.ts';

/** A JSON schema in the document, or a reference to one. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly description?: string;
  readonly 'x-source'?: 'given' | 'assumed';
  readonly 'x-assumption'?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export interface DocumentedAnswer {
  readonly description?: string;
  readonly 'x-source'?: 'given' | 'assumed';
  readonly 'x-assumption'?: string;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>;
  readonly content?: Content;
}

export interface Operation {
  /** The sandbox's name for the operation: `videos.list`. */
  readonly name: string;
  readonly method: string;
  /** Path with placeholders: `/v1/videos/{id}`. */
  readonly path: string;
  readonly needsKey: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly required?: boolean; readonly content: Content } | undefined;
  /** Responses by status. */
  readonly answers: Readonly<Record<string, DocumentedAnswer>>;
}

const document = parse(readFileSync(packageFile('openapi.yaml'), 'utf8')) as {
  readonly paths: Record<string, Record<string, unknown>>;
  readonly components: { readonly schemas: Record<string, Schema>; readonly responses: Record<string, unknown> };
};

export const schemas = document.components.schemas;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** All operations in the contract. References are resolved, except those to schemas. */
export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => (item[method] ? [operationOf(path, method, item)] : [])),
);

export function operationNamed(name: string): Operation {
  const operation = operations.find((each) => each.name === name);
  if (!operation) throw new Error(`The contract has no operation ${name}.`);
  return operation;
}

/** Resolves a schema that is a reference, and merges in the keywords next to the reference. */
export function schemaItself(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref: _, ...beside } = schema;
  return { ...(resolved(schema) as Schema), ...beside };
}

/** Returns a component of the document's `responses`. */
export function answerNamed(name: string): DocumentedAnswer {
  return resolved(document.components.responses[name]) as DocumentedAnswer;
}

function operationOf(path: string, method: string, item: Record<string, unknown>): Operation {
  const operation = item[method] as Record<string, unknown>;
  const parameters = [...((item['parameters'] ?? []) as unknown[]), ...((operation['parameters'] ?? []) as unknown[])];
  const answers = Object.entries(operation['responses'] as Record<string, unknown>);
  return {
    name: String(operation['x-operation']),
    method: method.toUpperCase(),
    // A path with its own servers is not below the API's version segment.
    path: 'servers' in item ? path : `/v1${path}`,
    needsKey: !('security' in operation),
    parameters: parameters.map((parameter) => resolved(parameter) as Parameter),
    body: operation['requestBody'] as Operation['body'],
    answers: Object.fromEntries(answers.map(([status, answer]) => [status, resolvedAnswer(answer)])),
  };
}

function resolvedAnswer(answer: unknown): DocumentedAnswer {
  const found = resolved(answer) as DocumentedAnswer;
  const headers = Object.entries(found.headers ?? {}).map(([name, header]) => [name, resolved(header)]);
  return { ...found, headers: Object.fromEntries(headers) as NonNullable<DocumentedAnswer['headers']> };
}

/** Resolves a local reference; returns any other value unchanged. */
function resolved(value: unknown): unknown {
  const reference = (value as { readonly $ref?: string } | undefined)?.$ref;
  if (reference === undefined) return value;
  const steps = reference.replace(/^#\//, '').split('/');
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document);
}
