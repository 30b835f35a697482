import { channel } from './postgres/connection.ts';

/** Signals from a member to the others. A payload without a colon is the name of a member that wrote rows. */
export type Hint = 'budget' | 'hosts' | 'free';

/**
 * Reports that the turn came here, another host wrote rows, the budget was blocked, the hosts changed, or the database
 * may have lost rows (`moved`). `rows` also means that a signal may have been missed.
 */
export type Heard = (what: 'turn' | 'rows' | 'budget' | 'moved' | 'hosts') => void;

/** Returns the SQL that sends a signal. */
export function notifyOf(hint: Hint): string {
  return `pg_notify('${channel}', ':${hint}')`;
}

/** Returns what a payload means to a member; null: the member sent it itself. */
export function heardIn(payload: string, hostName: string): 'budget' | 'hosts' | 'rows' | null {
  if (payload === hostName) return null;
  return payload === ':budget' ? 'budget' : payload === ':hosts' ? 'hosts' : 'rows';
}
