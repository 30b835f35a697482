import { readFileSync } from 'node:fs';
import { wantsJson } from '../../../src/cli/output/json.ts';
import { pathOf } from './stored.ts';

/**
 * Checks what a command printed against documents.txt.
 *
 * @param args of the command line
 * @param stdout all of it; without the line that a signal cut off
 * @throws {Error} when a document with `--json` has a path that is not listed, lacks a required one, or has a value of another type
 */
export function checkPrinted(args: readonly string[], stdout: string): void {
  if (!wantsJson(args)) return;
  const lines = stdout.split('\n').slice(0, -1);
  const wrong = lines.filter((line) => line !== '').flatMap((line) => differences(args, line));
  if (wrong.length === 0) return;
  throw new Error(
    `dropcast ${args.join(' ')} prints documents that differ from test/contract/golden/documents.txt:\n` +
      `${[...new Set(wrong)].join('\n')}\n` +
      'Bring back what users had. For a new member: its type in src must name it, then run npm run contract',
  );
}

function differences(args: readonly string[], line: string): readonly string[] {
  const document = parsed(line);
  if (document === undefined) return [`not JSON: ${line}`];
  const command = commandOf(args);
  const listed = command === undefined ? undefined : listedDocuments().get(command);
  const isError = isObject(document) && 'error' in document && listed?.places.has('error') !== true;
  const used = isError ? listedDocuments().get('any command that fails') : listed;
  if (used === undefined) return [`no documents of ${args.join(' ')} are listed`];
  return [...used.differences('', document)].map((each) => `${isError ? 'error' : command}: ${each}`);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** `sandbox keys list` before `sandbox`. */
function commandOf(args: readonly string[]): string | undefined {
  const said = [3, 2, 1].map((length) => args.slice(0, length).join(' '));
  return said.find((words) => listedDocuments().has(words));
}

interface ListedPlace {
  readonly types: readonly string[];
  readonly isOptional: boolean;
}

/** The lines of one command. */
class Listed {
  readonly places = new Map<string, ListedPlace>();
  readonly #members = new Map<string, string[]>();

  add(path: string, types: readonly string[], isOptional: boolean): void {
    this.places.set(path, { types, isOptional });
    const around = path.slice(0, Math.max(0, path.lastIndexOf('.')));
    if (/[^\]}]$/u.test(path)) this.#members.set(around, [...(this.#members.get(around) ?? []), path]);
  }

  *differences(path: string, value: unknown): Generator<string> {
    const place = this.places.get(path);
    if (place?.types.includes('any') === true) return;
    if (path !== '' && place === undefined) yield `${path} (${typeOf(value)}) is not listed`;
    else if (place !== undefined && !place.types.includes(typeOf(value)))
      yield `${path} is ${typeOf(value)}, not ${place.types.join('|')}`;
    else if (Array.isArray(value)) for (const element of value) yield* this.differences(`${path}[]`, element);
    else if (isObject(value)) yield* this.#ofObject(path, value);
  }

  *#ofObject(path: string, value: object): Generator<string> {
    const members = this.#members.get(path) ?? [];
    const isMapping = this.places.has(`${path}{}`);
    if (members.length === 0 && !isMapping) return; // a type that contains itself is listed once
    for (const [name, inner] of Object.entries(value)) {
      const below = path === '' ? name : `${path}.${name}`;
      yield* this.differences(isMapping && !members.includes(below) ? `${path}{}` : below, inner);
    }
    for (const member of members)
      if (
        this.places.get(member)?.isOptional === false &&
        !Object.hasOwn(value, member.slice(path.length).replace('.', ''))
      )
        yield `${member} is missing`;
  }
}

let known: ReadonlyMap<string, Listed> | null = null;

function listedDocuments(): ReadonlyMap<string, Listed> {
  known ??= readDocuments();
  return known;
}

function readDocuments(): ReadonlyMap<string, Listed> {
  const documents = new Map<string, Listed>();
  for (const line of readFileSync(pathOf('documents.txt'), 'utf8').split('\n')) {
    const [command = '', path = '', types = '', optional] = line.split('  ');
    if (path === '') continue;
    const listed = documents.get(command) ?? new Listed();
    documents.set(command, listed);
    listed.add(path, types.split('|'), optional === 'optional');
  }
  return documents;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
