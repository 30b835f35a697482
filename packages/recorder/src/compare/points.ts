import {
  operations,
  schemaItself,
  type DocumentedAnswer,
  type Operation,
  type Schema,
} from '@dropcast/sandbox/contract/document';

/** A statement of the contract about an operation. */
export interface Point {
  /** For example `videos.create HTTP status` or `videos.list data[].title`. */
  readonly place: string;
  readonly source: 'given' | 'assumed';
  /** The statement, in a sentence or a few words. */
  readonly says: string;
}

/** The successful answer that the contract documents for an operation. */
interface DocumentedSuccess {
  readonly status: number;
  readonly answer: DocumentedAnswer;
  /** Schema of the answer's JSON body; undefined if there is none. */
  readonly schema: Schema | undefined;
}

/** Returns the alternative forms of a body, usually one. */
export function formsOf(schema: Schema): readonly Schema[] {
  return schemaItself(schema).oneOf ?? [schema];
}

export function successOf({ answers }: Operation): DocumentedSuccess {
  const [status = '200', answer = {}] = Object.entries(answers).find(([code]) => code.startsWith('2')) ?? [];
  return { status: Number(status), answer, schema: answer.content?.['application/json']?.schema };
}

/** Returns all statements of the contract about successful answers, by operation. */
export function pointsOfContract(): readonly Point[] {
  return operations.flatMap((operation) => {
    const { status, answer, schema } = successOf(operation);
    // The specification does not show success statuses (api-spec section 4.5).
    const about: Point = { place: statusPlace(operation), source: 'assumed', says: `answers ${status}` };
    const source = answer['x-source'] ?? 'assumed';
    const body: Point = { place: bodyPlace(operation), source, says: bodySays(answer, schema) };
    const fields = schema === undefined ? [] : formsOf(schema).flatMap((form) => fieldsOf(form, `${operation.name} `));
    return [about, body, ...fields];
  });
}

export const statusPlace = ({ name }: Operation): string => `${name} HTTP status`;
export const bodyPlace = ({ name }: Operation): string => `${name} body`;

/** Returns the place of a value in a body, such as `data[].title`. @param path JSON path, including array indexes */
export function fieldPlace({ name }: Operation, path: readonly (string | number)[]): string {
  return `${name} ${path.reduce<string>((at, part) => joined(at, part), '')}`;
}

function joined(at: string, part: string | number): string {
  if (typeof part === 'number') return `${at}[]`;
  return at === '' ? part : `${at}.${part}`;
}

/** Whether the contract wraps the body in `data` in all of its forms. */
export function isWrapped(schema: Schema): boolean {
  return formsOf(schema).every((form) => 'data' in (schemaItself(form).properties ?? {}));
}

function bodySays(answer: DocumentedAnswer, schema: Schema | undefined): string {
  if (schema === undefined) return 'has no body';
  const form = isWrapped(schema) ? 'is wrapped in data' : 'is not wrapped';
  const isAssumed = answer['x-source'] === 'assumed' && answer['x-assumption'] !== undefined;
  return isAssumed ? `${form} (${oneLine(answer['x-assumption'] ?? '')})` : form;
}

function fieldsOf(schema: Schema, place: string): readonly Point[] {
  const itself = schemaItself(schema);
  if (itself.items !== undefined) return fieldsOf(itself.items, `${place}[]`);
  return Object.entries(itself.properties ?? {}).flatMap(([name, field]) => {
    const at = place.endsWith(' ') ? `${place}${name}` : `${place}.${name}`;
    const known = schemaItself(field);
    const own: Point = {
      place: at,
      // A given field with an assumed detail counts as assumed, because a service that deviates contradicts the detail.
      source: known['x-assumption'] === undefined ? (known['x-source'] ?? 'given') : 'assumed',
      says: oneLine(known['x-assumption'] ?? known.description ?? 'is there'),
    };
    return [...('x-source' in known ? [own] : []), ...fieldsOf(field, at)];
  });
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').replace(/\.$/, '');
}
