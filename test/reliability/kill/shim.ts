import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** What a call is, and what happens at it. `tear`: half of the bytes go out, then the process is killed. */
export type Action = 'before' | 'after' | 'tear' | Refusal;

export type Refusal = 'EIO' | 'ENOSPC' | 'EMFILE' | 'EACCES' | 'EROFS' | 'EDQUOT';

export interface Plan {
  readonly action: Action;
  /** Number of the call, from 1; 0 only counts. */
  readonly at: number;
  /** Of this call with a path of this ending, like `write /receipts.jsonl`: on a busy machine, the others are not always as many. */
  readonly only?: string | undefined;
  /** From that call on every one fails. */
  readonly isRepeated?: boolean;
}

/** What the shim saw: one `call path` per call of interest, in order. */
export interface Trace {
  readonly count: number;
  readonly isHit: boolean;
  readonly calls: readonly string[];
}

/** Calls that change something, or after which the program knows more than before. */
const effects = 'write,fsync,rename,unlink,link,create,send,recv,mkdir,truncate,chmod,copy';

/** Calls that may fail. */
const fallible = 'write,fsync,rename,unlink,link,create,open,read,mkdir,truncate,copy';

/** Compiles the shim. @returns the library to preload */
export function compileShim(folder: string): Promise<string> {
  return compileLibrary('shim', folder);
}

/** @param name of a source beside this file, without `.c` @returns a library to preload */
export function compileLibrary(name: string, folder: string): Promise<string> {
  return compile(`${name}.c`, join(folder, `${name}.so`), ['-shared', '-fPIC', '-ldl']);
}

/** @param source beside this file @returns `target` */
export async function compile(source: string, target: string, options: readonly string[] = []): Promise<string> {
  await promisify(execFile)('cc', ['-O2', '-Wall', '-o', target, join(import.meta.dirname, source), ...options]);
  return target;
}

/** The environment of a process that the shim watches. @param roots directories of interest */
export function shimEnv(
  { action, at, only, isRepeated = false }: Plan,
  library: string,
  roots: readonly string[],
  trace: string,
): Readonly<Record<string, string>> {
  return {
    LD_PRELOAD: library,
    SHIM_ROOTS: roots.join(':'),
    SHIM_CALLS: action.startsWith('E') ? fallible : effects,
    SHIM_AT: String(at),
    SHIM_DO: action,
    SHIM_TRACE: trace,
    ...(only !== undefined && { SHIM_ONLY: only }),
    ...(isRepeated && { SHIM_REPEAT: '1' }),
  };
}

/** The environment of a process to which these paths refuse everything, as long as there is a file of the name `condition`. */
export function refusingEnv(
  { error, condition }: { readonly error: Refusal; readonly condition: string },
  library: string,
  roots: readonly string[],
  trace: string,
): Readonly<Record<string, string>> {
  // What is open already stays open.
  const isAboutNames = error === 'EMFILE' || error === 'EACCES';
  return {
    ...shimEnv({ action: error, at: 1, isRepeated: true }, library, roots, trace),
    SHIM_CALLS: isAboutNames ? 'create,open,rename,link,mkdir' : 'write,fsync,create,rename,link,mkdir,truncate',
    SHIM_WHILE: condition,
  };
}

/** The environment of a process that finds another file at a path each time right before it renames, links or unlinks it there. */
export function swapEnv(
  { at, path, by }: { readonly at: number; readonly path: string; readonly by: string },
  library: string,
  trace: string,
): Readonly<Record<string, string>> {
  return {
    LD_PRELOAD: library,
    SHIM_ROOTS: dirname(path),
    SHIM_CALLS: 'rename,link,unlink',
    SHIM_AT: String(at),
    SHIM_DO: 'swap',
    SHIM_MATCH: path,
    SHIM_SWAP: by,
    SHIM_TRACE: trace,
  };
}

const lineBytes = 160;
const mostLines = 8192;

export async function readTrace(path: string): Promise<Trace> {
  const bytes = await readFile(path);
  const count = bytes.readUInt32LE(0);
  const lines = Array.from({ length: Math.min(count, mostLines) }, (_, n) => {
    const line = bytes.subarray((n + 1) * lineBytes, (n + 2) * lineBytes);
    return line.subarray(0, line.indexOf(0)).toString();
  });
  return { count, isHit: bytes.readUInt32LE(4) === 1, calls: lines };
}
