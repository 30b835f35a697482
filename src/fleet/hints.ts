import { channel } from './postgres/connection.ts';

/** Signals of a member to the others. Its plain name, without a colon, means that it wrote rows. */
export type Hint = 'budget' | 'hosts' | 'free';

/**
 * The turn came here, another host wrote rows, the budget was blocked, or the database may have lost rows (`moved`).
 * `rows` also means that a signal may have been missed.
 */
export type Heard = (what: 'turn' | 'rows' | 'budget' | 'moved' | 'hosts') => void;

/** The SQL of the signal. */
export function notifyOf(hint: Hint): string {
  return `pg_notify('${channel}', ':${hint}')`;
}

/** The meaning of a payload for a member; null: it is its own. */
export function heardIn(payload: string, hostName: string): 'budget' | 'hosts' | 'rows' | null {
  if (payload === hostName) return null;
  return payload === ':budget' ? 'budget' : payload === ':hosts' ? 'hosts' : 'rows';
}
