import type * as z from 'zod/mini';

/** Reads a value from parsed JSON; undefined if it has another shape. */
export type Reader<T> = (json: unknown) => T | undefined;

/** Entries of a list; the specification allows 100 a page. */
const mostEntries = 1000;

/** Reads one object, bare or in `data`. */
export function one<T>(schema: z.ZodMiniType<T>): Reader<T> {
  return (json) => schema.safeParse(unwrapped(json)).data;
}

/**
 * Reads a list, bare or in `data`, without its unreadable entries: one odd record must not hide a hundred good ones. Arrays are not left to
 * zod: without a JIT compiler (`--jitless`) it takes seconds for a million wrong entries.
 */
export function many<T>(schema: z.ZodMiniType<T>): Reader<readonly T[]> {
  return (json) => {
    const list = unwrapped(json);
    if (!Array.isArray(list)) return undefined;
    return list.slice(0, mostEntries).flatMap((entry: unknown) => {
      const read = schema.safeParse(entry);
      return read.success ? [read.data] : [];
    });
  };
}

/** What an answer holds: its `data`, if that is an object or a list, else the answer itself. */
export function unwrapped(json: unknown): unknown {
  const isWrapped =
    typeof json === 'object' && json !== null && 'data' in json && typeof json.data === 'object' && json.data !== null;
  return isWrapped ? json.data : json;
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Without the keys whose value is undefined. */
export function present<T extends object>(value: T): Present<T> {
  return Object.fromEntries(Object.entries(value).filter(([, held]) => held !== undefined)) as Present<T>;
}
