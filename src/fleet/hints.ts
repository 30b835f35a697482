import { channel } from './postgres/connection.ts';

/** What a member tells the others beside its name, which says that it wrote rows. A name of a host has no colon. */
export type Hint = 'budget' | 'hosts' | 'free';

/**
 * The turn came here, another host wrote rows, the budget was blocked, or the database may lack rows that it had (`moved`). Something
 * may have been missed: `rows`.
 */
export type Heard = (what: 'turn' | 'rows' | 'budget' | 'moved' | 'hosts') => void;

/** SQL that tells it. */
export function notifyOf(hint: Hint): string {
  return `pg_notify('${channel}', ':${hint}')`;
}

/** What a payload tells a member; null: its own rows. */
export function heardIn(payload: string, hostName: string): 'budget' | 'hosts' | 'rows' | null {
  if (payload === hostName) return null;
  return payload === ':budget' ? 'budget' : payload === ':hosts' ? 'hosts' : 'rows';
}
