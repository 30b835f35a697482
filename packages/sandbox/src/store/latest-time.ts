import type { DatabaseSync } from 'node:sqlite';
import { numberOrNull } from './columns.ts';

/**
 * The latest time that the records tell of, ms since 1970; 0 for none. The clock must not stand before it: one that was moved forward
 * and forgets that with its process would leave requests of the future in the rate limit, for days on end.
 */
export function latestTimeIn(database: DatabaseSync): number {
  const latest = TIMES.map(([table, column]) => `SELECT MAX(${column}) AS at_ms FROM ${table}`).join(' UNION ALL ');
  const row = database.prepare(`SELECT MAX(at_ms) AS at_ms FROM (${latest})`).get();
  return numberOrNull(row ?? {}, 'at_ms') ?? 0;
}

/** Each is the first column of an index, or its table is short. */
const TIMES = [
  ['api_keys', 'created_at_ms'],
  ['api_keys', 'last_used_at_ms'],
  ['channels', 'created_at_ms'],
  ['feeds', 'changed_at_ms'],
  ['videos', 'created_at_ms'],
  ['plays', 'started_at_ms'],
  ['webhooks', 'created_at_ms'],
] as const;
