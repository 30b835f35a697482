import * as fc from 'fast-check';
import { schemas, type Operation, type Parameter, type Schema } from '../../packages/sandbox/src/contract/document.ts';

/** Values that exist in the service, by the name of the schema that they are of: `VideoId` and the like. */
export type Known = (schemaName: string) => readonly string[];

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  /** With query; printable ASCII. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Requests of one operation: valid ones, nearly valid ones and hostile ones. `known` is called again for each. */
export function requestsOf(operation: Operation, known: Known): fc.Arbitrary<WireRequest> {
  return fc.record({
    method: fc.oneof({ weight: 12, arbitrary: fc.constant(operation.method) }, fc.constantFrom(...OTHER_METHODS)),
    target: targetOf(operation, known),
    headers,
    body: bodyOf(operation, known),
  });
}

/** What is valid by the schema. Texts are short, but at times as long as they may be. */
export function validOf(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return validOfReference(nameIn(schema.$ref), known);
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1000, 1e9) });
    case 'array':
      return fc.array(validOf(schema.items ?? {}, known), { maxLength: 5 });
    case 'object':
      return validObject(schema, known);
    default:
      return validText(schema);
  }
}

/** Nothing that anybody should send. */
export const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\u{202e}\u{feff}\u{200b}',
    '\ud800',
    '\u{1f468}\u{200d}\u{1f469}',
    '../../../etc/passwd',
    '..%2f..%2fetc%2fpasswd',
    '.',
    '..',
    '%',
    '%00',
    '%zz',
    '%c0%af',
    '//127.0.0.1/',
    'vid_x/../vid_y',
    'vid_x?page=1',
    "' OR 1=1 --",
    '<script>alert(1)</script>',
    ']]>&<!--',
    '__proto__',
    'constructor',
    'null',
    'NaN',
    '-1',
    '1e309',
    '99999999999999999999',
    '2026-02-30',
    '0000-00-00',
    '9999-12-31',
    'file:///etc/passwd',
    'http://u:p@127.0.0.1/',
    'http://[::1',
    'x'.repeat(20_000),
    'ü'.repeat(600),
  ),
);

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.jsonValue(),
  fc.double(),
  fc.array(hostileText, { maxLength: 4 }),
  fc.constantFrom(null, true, [], {}, [[]], -0, 2 ** 53, Array(201).fill('t'), { toString: 1 }),
);

const OTHER_METHODS = ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE', 'GET', 'PROPFIND'];

function validOfReference(name: string, known: Known): fc.Arbitrary<unknown> {
  const values = known(name);
  if (values.length > 0) return fc.nat().map((index) => known(name)[index % known(name).length]);
  return validOf(schemas[name] ?? {}, known);
}

function validObject({ properties, required = [], maxProperties }: Schema, known: Known): fc.Arbitrary<unknown> {
  if (maxProperties === 0) return fc.constant({});
  if (!properties) return fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 });
  const values = Object.entries(properties).map(([name, schema]) => [name, validOf(schema, known)] as const);
  return fc.record(Object.fromEntries(values), { requiredKeys: [...required] });
}

function validText({ format, pattern = '', maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === 'date') return fc.date({ ...DAYS, noInvalidDate: true }).map(dayOf);
  if (format === 'uri') return fc.constantFrom('http://127.0.0.1:9/clip.mp4', 'HTTP://localhost:9/a?b#c');
  const short = fc.string({ unit: 'grapheme', minLength: 1, maxLength: Math.min(maxLength, 30) });
  return fc
    .oneof({ weight: 9, arbitrary: short }, fc.constant('x'.repeat(maxLength)))
    .filter((text) => new RegExp(pattern, 'u').test(text) && text.length <= maxLength);
}

const DAYS = { min: new Date('2025-06-01'), max: new Date('2026-06-01') };

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

function targetOf({ path, parameters }: Operation, known: Known): fc.Arbitrary<string> {
  const parts = path.split('/').map((part) => {
    const parameter = parameters.find((each) => each.in === 'path' && part === `{${each.name}}`);
    return parameter ? pathPartOf(parameter, known) : fc.constant(part);
  });
  const queries = queryOf(
    parameters.filter((parameter) => parameter.in === 'query'),
    known,
  );
  return fc.tuple(fc.tuple(...parts), queries).map(([given, query]) => given.join('/') + query);
}

function pathPartOf({ schema }: Parameter, known: Known): fc.Arbitrary<string> {
  const hostile = hostileText.map((text) => text.slice(0, 2000));
  return fc.oneof(
    { weight: 6, arbitrary: validOf(schema, known).map((value) => encoded(String(value))) },
    hostile.map(encoded),
    // As it is, as far as a request line can carry it.
    hostile.map((text) => text.replaceAll(/[^!-~]/g, '_').replaceAll(/[?#]/g, '')),
  );
}

function queryOf(parameters: readonly Parameter[], known: Known): fc.Arbitrary<string> {
  const pairs = parameters.map(({ name, schema }) => fc.tuple(fc.constant(name), validOf(schema, known).map(String)));
  const valid =
    pairs.length === 0 ? fc.constant([]) : fc.uniqueArray(fc.oneof(...pairs), { selector: ([name]) => name });
  const names = fc.oneof(fc.constantFrom('page', 'per_page', 'status', 'from', 'to', 'channel_id', 'x'), hostileText);
  const hostile = fc.array(fc.tuple(names, hostileText), { minLength: 1, maxLength: 3 });
  return fc
    .oneof(
      { weight: 4, arbitrary: valid },
      fc.tuple(valid, hostile).map(([some, others]) => [...some, ...others]),
    )
    .map((all) => all.map(([name, value]) => `${encoded(name)}=${encoded(value.slice(0, 500))}`).join('&'))
    .map((query) => (query === '' ? '' : `?${query}`));
}

function bodyOf({ body }: Operation, known: Known): fc.Arbitrary<string | undefined> {
  const junk = fc.oneof(hostileText, fc.json(), hostileValue.map(asJson));
  const schema = body?.content['application/json']?.schema;
  if (!schema) return fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, junk);
  const valid = validOf(schema, known);
  const field = fc.oneof(fc.constantFrom(...fieldsOf(schema), 'status', '__proto__'), hostileText);
  const spoilt = fc
    .tuple(valid, field, hostileValue)
    .map(([value, name, other]) => asJson({ ...(value as object), [name]: other }));
  return fc.oneof(
    { weight: 8, arbitrary: valid.map(asJson) },
    { weight: 6, arbitrary: spoilt },
    { weight: 2, arbitrary: junk },
    valid.map((value) => asJson(value).slice(0, -1)),
    fc.constantFrom(
      undefined,
      '',
      `{"title":"${'x'.repeat(1_100_000)}"}`,
      `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
    ),
  );
}

function fieldsOf(schema: Schema): string[] {
  const { properties = {} } = schema.$ref === undefined ? schema : (schemas[nameIn(schema.$ref)] ?? {});
  return Object.keys(properties);
}

/** Of `#/components/schemas/NAME`. */
function nameIn(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

const headers: fc.Arbitrary<Record<string, string>> = fc
  .tuple(
    fc.oneof(
      { weight: 12, arbitrary: fc.constant('application/json') },
      fc.constantFrom('application/json; charset=utf-8', 'APPLICATION/JSON', 'text/plain', 'multipart/form-data', ''),
    ),
    fc.oneof({ weight: 12, arbitrary: fc.constant({}) }, fc.constantFrom<Record<string, string>>(...oddHeaders())),
  )
  .map(([contentType, odd]) => ({ ...(contentType !== '' && { 'content-type': contentType }), ...odd }));

function oddHeaders(): Record<string, string>[] {
  return [
    { authorization: '' },
    { authorization: 'Bearer ' },
    { authorization: 'Bearer x y' },
    { authorization: `Bearer ${'x'.repeat(4000)}` },
    { 'content-encoding': 'gzip' },
    { 'x-http-method-override': 'DELETE' },
    { accept: 'text/html' },
    { host: 'evil.example' },
    { range: 'bytes=0-1' },
    { expect: '100-continue' },
  ];
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Undefined has no JSON. */
function asJson(value: unknown): string {
  return JSON.stringify(value) ?? '';
}
