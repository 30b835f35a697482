import { z } from 'zod';
import { finding, type Finding } from './finding.ts';

/**
 * Reports violations of the schema, and repeated ids. @param lists names of the feed's lists whose entries are items
 */
export function* schemaFindings(feed: unknown, schema: z.ZodType, lists: readonly string[]): Generator<Finding> {
  const { error } = schema.safeParse(feed);
  for (const { path, message } of error?.issues ?? []) {
    const [list, index] = path;
    const isOfItem = lists.includes(String(list)) && typeof index === 'number';
    const place = path.slice(isOfItem ? 2 : 0).join('.');
    yield finding(
      `schema:${place.replaceAll(/\.\d+/g, '')}`,
      `${place || 'the feed'}: ${message.endsWith('received undefined') ? 'is missing' : message}`,
      isOfItem ? idAt(feed, list, index) : undefined,
    );
  }
  yield* repeatedIds(feed, lists);
}

export const webAddress = z.url({ protocol: /^https?$/ });
/** A time that Roku spells `{YYYY}-{MM}-{DD}T{hh}:{mm}:{ss}+{TZ}`. */
export const zonedTime = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/, 'must be like 2026-01-31T12:00:00+00:00')
  .refine((value) => z.iso.datetime({ offset: true }).safeParse(value).success, 'must be a time that exists');
export const day = z.iso.date();
/** Limits a text's length in code points, as JSON Schema does. */
export const atMost = (characters: number) =>
  z
    .string()
    .regex(/\S/, 'must have a text')
    .refine((value) => Array.from(value).length <= characters, `must have at most ${characters} characters`);
export const seconds = z.int().min(1);

function idAt(feed: unknown, list: PropertyKey | undefined, index: number): string {
  const entry = entriesOf(feed, String(list))[index];
  const id = typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined;
  return typeof id === 'string' && id !== '' ? id : `#${index + 1}`;
}

function entriesOf(feed: unknown, list: string): readonly unknown[] {
  const entries = typeof feed === 'object' && feed !== null ? Reflect.get(feed, list) : undefined;
  return Array.isArray(entries) ? entries : [];
}

/** Reports ids that occur more than once across all lists: an id must be unique within the feed. */
function* repeatedIds(feed: unknown, lists: readonly string[]): Generator<Finding> {
  const seen = new Set<string>();
  for (const list of lists)
    for (const index of entriesOf(feed, list).keys()) {
      const id = idAt(feed, list, index);
      if (seen.has(id) && !id.startsWith('#')) yield finding('id-unique', `${id} appears twice`, id);
      seen.add(id);
    }
}
