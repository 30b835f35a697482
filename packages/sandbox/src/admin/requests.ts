import { z } from 'zod';
import { query, pageNumber } from '../http/input.ts';
import type { Journal, JournalEntry } from '../http/journal.ts';
import { isoTime } from '../http/wire.ts';
import type { Endpoint } from '../http/handler.ts';
import { keyId } from './key-desk.ts';

/** The request journal. */
export function requestEndpoints(journal: Journal): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/_sandbox/requests',
      says: 'Lists the latest requests, oldest first; ?operation=videos.list, ?status=404 or 4xx, ?since=2026-01-31T12:00:00Z, ?limit=100.',
      handler: (context) => {
        const wanted = query(context.req.raw, filter);
        const entries = journal.entries().filter((entry) => isWanted(entry, wanted));
        return context.json({ data: entries.slice(-wanted.limit).map(entryView), meta: { total: entries.length } });
      },
    },
    {
      method: 'DELETE',
      path: '/_sandbox/requests',
      says: 'Clears the request journal.',
      handler: (context) => {
        journal.clear();
        return context.body(null, 204);
      },
    },
  ];
}

export function entryView(entry: JournalEntry) {
  return {
    number: entry.number,
    at: isoTime(entry.atMs),
    operation: entry.operation,
    method: entry.method,
    path: entry.path,
    status: entry.status,
    duration_ms: entry.durationMs,
    bytes_in: entry.bytesIn,
    bytes_out: entry.bytesOut,
    key_id: entry.keyId === null ? null : keyId(entry.keyId),
    fault: entry.fault,
  };
}

const filter = z.strictObject({
  operation: z.string().optional(),
  status: z
    .string()
    .regex(/^([1-5]\d\d|[1-5]xx|0)$/, 'must be a status like 404, a class like 4xx, or 0 for no answer')
    .optional(),
  since: z.iso
    .datetime({ offset: true, error: 'must be a time like 2026-01-31T12:00:00Z' })
    .transform((text) => Date.parse(text))
    .optional(),
  limit: pageNumber(1000).default(100),
});

export type RequestFilter = Pick<z.output<typeof filter>, 'operation' | 'status' | 'since'>;

export function isWanted(entry: JournalEntry, { operation, status, since }: RequestFilter): boolean {
  if (operation !== undefined && entry.operation !== operation) return false;
  if (status !== undefined && !isInClass(String(entry.status), status)) return false;
  return since === undefined || entry.atMs >= since;
}

function isInClass(status: string, wanted: string): boolean {
  return wanted.endsWith('xx') ? status.length === 3 && status.startsWith(wanted.slice(0, 1)) : status === wanted;
}
