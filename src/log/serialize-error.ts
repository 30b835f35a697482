import { isNativeError } from 'node:util/types';

/**
 * What may be printed of an error. An allow-list: got's HTTP errors carry the key and the signed address in `options`, `timings`,
 * `request` and `response`.
 */
const ALLOWED = ['name', 'message', 'code', 'status', 'kind', 'cause'] as const;

const MAX_CAUSES = 5;
const MAX_FRAMES = 20;

/** The printable fields of an error, or of an object in the place of one. `stacks` adds the stack frames. */
export function serializeError(error: object, stacks: boolean): Readonly<Record<string, unknown>> {
  const fields = ALLOWED.map((key) => [key, read(error, key)] as const).filter(([, value]) => isPrintable(value));
  return { ...Object.fromEntries(fields), ...causesOf(error), ...(stacks ? framesOf(error) : {}) };
}

/** Includes errors of other realms, as made by test runners and `node:vm`. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || isNativeError(value);
}

function read(error: object, key: string): unknown {
  try {
    return Reflect.get(error, key);
  } catch {
    return '[unreadable]';
  }
}

function isPrintable(value: unknown): boolean {
  return value !== undefined && value !== null && typeof value !== 'function';
}

/** Node reports a host that answers on none of its addresses as an AggregateError with an empty message. */
function causesOf(error: object): Readonly<Record<string, unknown>> {
  const errors = read(error, 'errors');
  if (!Array.isArray(errors)) return {};
  return { errors: errors.slice(0, MAX_CAUSES).filter((each) => isError(each)) };
}

/** Without the first lines, which repeat name and message. */
function framesOf(error: object): Readonly<Record<string, unknown>> {
  const stack = read(error, 'stack');
  if (typeof stack !== 'string') return {};
  const lines = stack.split('\n').filter((line) => line.startsWith('    at '));
  return { stack: lines.slice(0, MAX_FRAMES).map((line) => line.trim()) };
}
