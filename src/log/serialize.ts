import { isSecretKey, REDACTED } from './redaction.ts';
import { isNativeError } from 'node:util/types';

/** Part of a log line, copied so that it shares nothing with the program's objects. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export interface SerializeOptions {
  /** Applied to whole words before a text is shortened: half a secret would not be recognised. */
  readonly redact: (text: string) => string;
  /** Whether errors show their stack. */
  readonly stacks: boolean;
}

const MAX_DEPTH = 6;
/** Maximum number of entries per object or list. */
const MAX_ENTRIES = 50;
/** Maximum number of values per line. */
const MAX_NODES = 1_000;
const MAX_TEXT = 8_192;
const MAX_KEY = 128;
/**
 * Maximum length of a text to redact, in characters: without a JIT compiler, the patterns take 0.4 s of CPU for 1 MiB.
 */
const MAX_REDACTED = 2 * MAX_TEXT;
/** Maximum number of characters per line, in all texts together. */
const MAX_LINE = 16 * MAX_TEXT;

/**
 * Copies a log call's fields into plain JSON data immediately, so that later changes do not alter the line. Reads only
 * known types. An instance of any other class is represented by its class name, because for example the `options` of an
 * HTTP error contain the key. Never throws.
 */
export function serialize(value: unknown, options: SerializeOptions): JsonValue {
  return new Walk(options).value(value, 0);
}

export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}

/** Truncates a long text at the end of a word: no secret contains white space. */
function wholeWords(text: string): string {
  if (text.length <= MAX_REDACTED) return text;
  let end = MAX_REDACTED;
  while (end > 0 && /\S/.test(text.charAt(end - 1))) end -= 1;
  return `${text.slice(0, end)}…`;
}

export function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Copies one value, counting what it has visited. */
class Walk {
  readonly #options: SerializeOptions;
  readonly #open = new Set<object>();
  #nodes = 0;
  #characters = 0;

  constructor(options: SerializeOptions) {
    this.#options = options;
  }

  value(value: unknown, depth: number): JsonValue {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) return '[…]';
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
        return value;
      case 'bigint':
        return String(value);
      case 'object':
        return value === null ? null : this.#object(value, depth);
      default:
        return `[${typeof value}]`;
    }
  }

  #text(text: string): string {
    if (this.#characters > MAX_LINE) return '[…]';
    const shown = cutText(this.#options.redact(wholeWords(text)), MAX_TEXT);
    this.#characters += shown.length;
    return shown;
  }

  #object(value: object, depth: number): JsonValue {
    if (this.#open.has(value)) return '[circular]';
    if (depth >= MAX_DEPTH) return '[…]';
    this.#open.add(value);
    try {
      return this.#known(value, depth);
    } catch {
      // A getter or proxy threw, or a proxy was revoked.
      return '[unreadable]';
    } finally {
      this.#open.delete(value);
    }
  }

  #known(value: object, depth: number): JsonValue {
    if (isSecret(value)) return '[secret]';
    if (isError(value)) return this.#error(value, depth);
    if (Array.isArray(value)) return this.#list(value, depth);
    if (value instanceof Set) return this.#list([...value], depth);
    if (value instanceof Map) return this.#entries([...value], depth);
    if (value instanceof URL) return this.#text(value.href);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (isPlainObject(value)) return this.#entries(Object.entries(value), depth);
    return this.#text(`[${className(value)}]`);
  }

  #error(error: object, depth: number): JsonObject {
    return this.#entries(Object.entries(serializeError(error, this.#options.stacks)), depth);
  }

  #list(values: readonly unknown[], depth: number): readonly JsonValue[] {
    const shown = values.slice(0, MAX_ENTRIES).map((value) => this.value(value, depth + 1));
    const left = values.length - shown.length;
    return left > 0 ? [...shown, `[${left} more]`] : shown;
  }

  #entries(entries: readonly (readonly [unknown, unknown])[], depth: number): JsonObject {
    const defined = entries.filter(([, value]) => value !== undefined);
    const shown = defined.slice(0, MAX_ENTRIES).map(([key, value]) => this.#entry(String(key), value, depth));
    const left = defined.length - shown.length;
    return Object.fromEntries(left > 0 ? [...shown, ['…', `[${left} more]`] as const] : shown);
  }

  #entry(key: string, value: unknown, depth: number): readonly [string, JsonValue] {
    const name = cutText(this.#options.redact(wholeWords(key)), MAX_KEY);
    if (isSecretKey(key) && mayLeak(value)) return [name, REDACTED];
    // By convention, errors are under `err` or `cause`. A cloned or spread error has lost its class but kept its
    // secrets.
    if (isErrorKey(key) && isPlainObject(value))
      return [name, this.#object(serializeError(value, this.#options.stacks), depth + 1)];
    return [name, this.value(value, depth + 1)];
  }
}

function className(value: object): string {
  return typeof value.constructor === 'function' ? value.constructor.name : 'object';
}

/** Detects secrets by shape, so that the logger need not import the configuration module. */
function isSecret(value: object): boolean {
  return 'reveal' in value && typeof value.reveal === 'function';
}

function isErrorKey(key: string): boolean {
  return key === 'err' || key === 'error' || key === 'cause';
}

/** `null` and booleans reveal only whether there is a secret. */
function mayLeak(value: unknown): boolean {
  return value !== null && typeof value !== 'boolean';
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/**
 * Error properties that may be printed. An allow-list: got's HTTP errors contain the key and the signed address in
 * `options`, `timings`, `request` and `response`.
 */
const ALLOWED = ['name', 'message', 'code', 'status', 'kind', 'cause'] as const;

const MAX_CAUSES = 5;
const MAX_FRAMES = 20;

/** Returns the printable fields of an error, or of an object that stands in for one. `stacks` adds the stack frames. */
function serializeError(error: object, stacks: boolean): Readonly<Record<string, unknown>> {
  const fields = ALLOWED.map((key) => [key, read(error, key)] as const).filter(([, value]) => isPrintable(value));
  return { ...Object.fromEntries(fields), ...causesOf(error), ...(stacks ? framesOf(error) : {}) };
}

/** Includes errors from other realms, as created by test runners and `node:vm`. */
function isError(value: unknown): value is Error {
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

/**
 * Collects an AggregateError's errors. Node throws one, with an empty message, if a host is unreachable at all of its
 * addresses.
 */
function causesOf(error: object): Readonly<Record<string, unknown>> {
  const errors = read(error, 'errors');
  if (!Array.isArray(errors)) return {};
  return { errors: errors.slice(0, MAX_CAUSES).filter((each) => isError(each)) };
}

/** Omits the stack's first lines, which repeat name and message. */
function framesOf(error: object): Readonly<Record<string, unknown>> {
  const stack = read(error, 'stack');
  if (typeof stack !== 'string') return {};
  const lines = stack.split('\n').filter((line) => line.startsWith('    at '));
  return { stack: lines.slice(0, MAX_FRAMES).map((line) => line.trim()) };
}
