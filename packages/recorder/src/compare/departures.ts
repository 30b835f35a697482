import type { Operation, Schema } from '@dropcast/sandbox/contract/document';
import { schemaErrors, type SchemaError } from '@dropcast/sandbox/contract/schema-check';
import { hasHidden } from '../cleaning/hidden.ts';
import type { RecordedExchange } from '../recording.ts';
import { bodyPlace, fieldPlace, formsOf, isWrapped, statusPlace, successOf } from './points.ts';
import { isIncomplete, jsonOf } from './telling-exchanges.ts';

/** A deviation of an answer from the contract. */
export interface Departure {
  readonly place: string;
  readonly what: string;
  /** Whether the contract does not know the field; clients ignore it. */
  readonly isNew?: boolean;
  /** Values that break the same rule count once, with the `what` of the first. By default, each `what` counts. */
  readonly rule?: string;
}

/** Returns the deviations of a successful answer. */
export function departuresOf(operation: Operation, exchange: RecordedExchange): readonly Departure[] {
  const { status: documented, schema } = successOf(operation);
  const status = exchange.answer?.status ?? 0;
  const ofStatus = status === documented ? [] : [{ place: statusPlace(operation), what: `answers ${status}` }];
  return [...ofStatus, ...ofBody(operation, exchange, schema)];
}

/**
 * Returns a refusal's deviations from `{"error": {"code", "message"}}` or from the code for its status (api-spec
 * section 7).
 */
export function refusalDepartures(operation: Operation, exchange: RecordedExchange): readonly Departure[] {
  const { answer } = exchange;
  const status = answer?.status ?? 0;
  const place = `${operation.name} ${status}`;
  // A 304 answers a conditional request (RFC 9110 section 13).
  if (status === 304) return [];
  if (status < 400)
    return [{ place: statusPlace(operation), what: isIncomplete(exchange) ? 'answers 308' : `redirects (${status})` }];
  const documented = operation.answers[status];
  const json = jsonOf(exchange);
  const schema = documented?.content?.['application/json']?.schema ?? { $ref: '#/components/schemas/ErrorAnswer' };
  const retryAfter = status === 429 ? retryDepartures(place, answer?.headers['retry-after']) : [];
  if (exchange.method === 'HEAD') return retryAfter;
  if (json === undefined)
    return [...retryAfter, { place, what: `has ${bodyKind(exchange)} instead of an error object` }];
  const unknown =
    documented === undefined && status < 500
      ? [{ place: `${place} error.code`, what: 'has a status that the contract does not document' }]
      : [];
  const errors = errorsIn(schema, json).map((error) => refusalDeparture(place, error, json));
  return [...retryAfter, ...unknown, ...unique(errors)];
}

/** Checks that Retry-After is in seconds (api-spec section 8). */
function retryDepartures(place: string, retryAfter: string | undefined): readonly Departure[] {
  if (retryAfter === undefined) return [{ place, what: 'has no Retry-After' }];
  return /^\d+$/.test(retryAfter) ? [] : [{ place, what: 'has a Retry-After that is not a number of seconds' }];
}

function refusalDeparture(place: string, error: SchemaError, json: unknown): Departure {
  if (error.keyword === 'additionalProperties') {
    const name = [...pathOf(error.instancePath), String(error.params['additionalProperty'])].join('.');
    return { place: `${place} ${name}`, what: 'is a new field', isNew: true };
  }
  const isCode = error.instancePath === '/error/code';
  return { place: isCode ? `${place} error.code` : place, what: sentenceOf(error, json) };
}

function ofBody(operation: Operation, exchange: RecordedExchange, schema: Schema | undefined): readonly Departure[] {
  const place = bodyPlace(operation);
  if (exchange.method === 'HEAD') return [];
  const kind = bodyKind(exchange);
  if (schema === undefined) return kind === 'no body' ? [] : [{ place, what: `has ${kind}` }];
  const json = jsonOf(exchange);
  if (json === undefined) return [{ place, what: `has ${kind}` }];
  const { wrapped, what } = asWrapped(json, schema);
  const errors = fewest(formsOf(schema).map((form) => errorsIn(form, wrapped)));
  return [
    ...(what === null ? [] : [{ place, what }]),
    ...unique(errors.flatMap((error) => departureAt(operation, error, wrapped))),
  ];
}

/** Treats a bare answer instead of a wrapped one, or the reverse, as one departure rather than one per field. */
function asWrapped(json: unknown, schema: Schema): { readonly wrapped: unknown; readonly what: string | null } {
  const isExpected = isWrapped(schema);
  const isSo = typeof json === 'object' && json !== null && 'data' in json;
  if (isExpected && !isSo) return { wrapped: { data: json }, what: 'is not wrapped in data' };
  if (!isExpected && isSo) return { wrapped: json.data, what: 'is wrapped in data' };
  return { wrapped: json, what: null };
}

/** Returns the errors of the form with the fewest, which describes the problem best. */
function fewest(lists: readonly (readonly SchemaError[])[]): readonly SchemaError[] {
  return lists.toSorted((one, other) => one.length - other.length)[0] ?? [];
}

/** Returns the schema errors, except those of texts with hidden parts. */
function errorsIn(schema: Schema, json: unknown): readonly SchemaError[] {
  return schemaErrors(schema, json).filter((error) => {
    const value = valueAt(json, pathOf(error.instancePath));
    return typeof value !== 'string' || !hasHidden(value);
  });
}

function departureAt(operation: Operation, error: SchemaError, body: unknown): readonly Departure[] {
  const path = pathOf(error.instancePath);
  if (error.keyword === 'required')
    return [{ place: fieldPlace(operation, [...path, String(error.params['missingProperty'])]), what: 'is missing' }];
  if (error.keyword === 'additionalProperties') {
    const name = String(error.params['additionalProperty']);
    return [{ place: fieldPlace(operation, [...path, name]), what: 'is a new field', isNew: true }];
  }
  const place = path.length === 0 ? bodyPlace(operation) : fieldPlace(operation, path);
  return [{ place, what: sentenceOf(error, body), ...ruleOf(error, valueAt(body, path)) }];
}

/**
 * Returns the rule that errors share. Each unknown word of an enumeration counts separately, whereas wrong times and
 * numbers may differ per video.
 */
function ruleOf({ keyword, message = '' }: SchemaError, value: unknown): Pick<Departure, 'rule'> {
  return keyword === 'enum' || keyword === 'const'
    ? {}
    : { rule: `${message} ${value === null ? 'null' : typeof value}` };
}

function sentenceOf(error: SchemaError, body: unknown): string {
  const value = valueAt(body, pathOf(error.instancePath));
  const shown =
    typeof value === 'object' && value !== null
      ? Array.isArray(value)
        ? 'a list'
        : 'an object'
      : JSON.stringify(value);
  return `is ${cut(shown ?? 'nothing')}: it ${error.message ?? 'is not valid'}${detailOf(error)}`;
}

function detailOf({ keyword, params }: SchemaError): string {
  if (keyword === 'enum') return ` (${(params['allowedValues'] as readonly unknown[]).join(', ')})`;
  if (keyword === 'const') return ` (${JSON.stringify(params['allowedValue'])})`;
  return '';
}

/** Length in characters at which a displayed value is cut. */
const longestShown = 60;

function cut(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}

function bodyKind({ answer }: RecordedExchange): string {
  const body = answer?.body;
  if (body === undefined) return 'no body';
  if ('json' in body) return 'a JSON body';
  if ('bytes' in body) return `${body.bytes} bytes`;
  return /^\s*</.test(body.text) ? 'a web page' : 'a text';
}

function pathOf(pointer: string): readonly (string | number)[] {
  if (pointer === '') return [];
  const parts = pointer.slice(1).split('/');
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')));
}

function valueAt(body: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<string | number, unknown> | undefined)?.[part], body);
}

/** Removes duplicates, because the items of a list repeat the same departure. */
function unique(departures: readonly Departure[]): readonly Departure[] {
  const seen = new Set<string>();
  return departures.filter(({ place, what }) => !seen.has(`${place} ${what}`) && seen.add(`${place} ${what}`));
}
