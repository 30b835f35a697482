import { escapeJson } from '../../log/unsafe-characters.ts';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** Version of the JSON documents. Incremented when a field changes its meaning or is removed. */
const VERSION = 1;

const withDocument = new WeakSet<NodeJS.WritableStream>();

/** Writes one line, `{"v":1,…}`. A list becomes `{"v":1,"items":[…]}`; big integers become strings of digits. */
export function printJson(value: object, stream: NodeJS.WritableStream): void {
  printDocument(jsonLine(value), stream);
}

/** Prints a command's result: its document with `--json`, otherwise the text. */
export function printResult(
  document: object,
  { shell, json }: { readonly shell: Pick<Shell, 'stdout'>; readonly json: boolean | undefined },
  text: () => string,
): void {
  if (json === true) printJson(document, shell.stdout);
  else shell.stdout.write(text());
}

/** @param line the document as text, including its line feed */
export function printDocument(line: string, stream: NodeJS.WritableStream): void {
  withDocument.add(stream);
  stream.write(line);
}

/** Whether a command has already printed a document, so that a later error does not print another one. */
export function hasDocument(stream: NodeJS.WritableStream): boolean {
  return withDocument.has(stream);
}

function jsonLine(value: object): string {
  const document = Array.isArray(value) ? { items: value as unknown } : value;
  const text = JSON.stringify(Object.assign({ v: VERSION }, document, { v: VERSION }), (_key, field: unknown) =>
    typeof field === 'bigint' ? String(field) : field,
  );
  return `${escapeJson(text)}\n`;
}

/** A command's error as JSON, printed in place of its normal output so that stdout is always JSON with `--json`. */
interface ErrorDocument {
  readonly v: 1;
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly exit: number };
}

type ErrorCode = 'failed' | 'usage' | 'not_running' | 'bad_config';

const codes: Readonly<Record<number, ErrorCode>> = {
  [exitCodes.failed]: 'failed',
  [exitCodes.usage]: 'usage',
  [exitCodes.notRunning]: 'not_running',
  [exitCodes.badConfig]: 'bad_config',
};

export function errorDocument(message: string, exit: number): ErrorDocument {
  return { v: 1, error: { code: codes[exit] ?? 'failed', message, exit } };
}

/** Whether a command line asks for JSON. Arguments after `--` are not options. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json');
}
