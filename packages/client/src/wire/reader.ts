import * as z from 'zod/mini';

import { Count } from './fields.ts';
import { orMissing } from './tolerant.ts';

/** Reads a value from parsed JSON; returns undefined if the shape does not match. */
export type Reader<T> = (json: unknown) => T | undefined;

/**
 * Maximum number of list entries to read. The specification allows 100 per page, but describes no pages for channels,
 * feeds and analytics, so one response holds them all. Ten thousand invalid entries take a second without a JIT
 * compiler (`--jitless`), measured.
 */
const mostEntries = 10_000;

/** Reads one object, either bare or wrapped in `data`. */
export function one<T>(schema: z.ZodMiniType<T>): Reader<T> {
  return (json) => schema.safeParse(unwrapped(json)).data;
}

/** The entries of a list. */
export interface Entries<T> {
  readonly entries: readonly T[];
  /** Number of further entries that cannot be read. */
  readonly unreadable: number;
}

/**
 * Reads a list, bare or wrapped in `data`, and skips unreadable entries: one odd record must not hide a hundred good
 * ones.
 */
export function many<T>(schema: z.ZodMiniType<T>): Reader<readonly T[]> {
  const read = counted(schema);
  return (json) => read(json)?.entries;
}

/** Like `many`, but also counts unreadable entries. The array is cut first, since zod would read a million entries. */
export function counted<T>(schema: z.ZodMiniType<T>): Reader<Entries<T>> {
  return (json) => {
    const list = unwrapped(json);
    if (!Array.isArray(list)) return undefined;
    const entries = list.slice(0, mostEntries).flatMap((entry: unknown) => {
      const read = schema.safeParse(entry);
      return read.success ? [read.data] : [];
    });
    return { entries, unreadable: list.length - entries.length };
  };
}

/** Returns the body's `data` if that is an object or a list, otherwise the body itself. */
export function unwrapped(json: unknown): unknown {
  const isWrapped =
    typeof json === 'object' && json !== null && 'data' in json && typeof json.data === 'object' && json.data !== null;
  return isWrapped ? json.data : json;
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

type Renamed<T> = Present<{ [K in keyof T as Camel<K>]: T[K] }>;

/** Renames fields such as `channel_id` to `channelId`, and drops those whose value is undefined. */
export function renamed<T extends object>(wire: T): Renamed<T> {
  const fields = Object.entries(wire).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields.map(([name, value]) => [camelCased(name), value])) as Renamed<T>;
}

function camelCased(name: string): string {
  return name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The position of a page in its list (api-spec section 2.6). Fields missing from the response are omitted. */
export interface ListMeta {
  readonly page?: number | undefined;
  readonly perPage?: number | undefined;
  readonly total?: number | undefined;
}

const Meta = z.object({ meta: orMissing(z.object({ page: Count, per_page: Count, total: Count })) });

export function readMeta(json: unknown): ListMeta {
  const meta = Meta.safeParse(json).data?.meta;
  return { page: meta?.page, perPage: meta?.per_page, total: meta?.total };
}
