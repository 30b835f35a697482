import { exitCodes } from './shell.ts';

/** A command's error as JSON, printed in place of its normal output so that stdout is always JSON with `--json`. */
export interface ErrorDocument {
  readonly v: 1;
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly exit: number };
}

export type ErrorCode = 'failed' | 'usage' | 'not_running' | 'bad_config';

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
