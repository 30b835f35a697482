import type { Pause } from '../../pipeline/events.ts';
import { awayCode } from '../../pipeline/file/store-errors.ts';

/** The change that lets work resume. */
export type Obstacle = 'database' | 'key' | 'account' | 'service' | 'upload host' | 'machine';

type Stop = Pick<Pause, 'kind' | 'holds' | 'code'>;

/**
 * Pure: failures of this machine have the errno name of the system as their code; what the service refuses has a word
 * of its own.
 */
export function obstacleOf({ kind, holds, code }: Stop): Obstacle {
  if (code === awayCode) return 'database';
  if (kind === 'suspended' && /^[A-Z]/.test(code)) return 'machine';
  if (holds === 'uploads') return 'upload host';
  if (kind === 'offline') return 'service';
  return accountCodes.has(code) ? 'account' : 'key';
}

const accountCodes: ReadonlySet<string> = new Set(['forbidden', 'payment_required']);

/** Pure: this obstacle is gone. It does not say that work resumes: something else may stop it. */
export function overWords(obstacle: Obstacle): string {
  return over[obstacle];
}

const over: Readonly<Record<Obstacle, string>> = {
  database: 'The database answers again',
  key: 'The service accepts the key again',
  account: 'The service accepts the account again',
  service: 'The service is reachable again',
  'upload host': 'Files can be uploaded again',
  machine: 'This machine works again',
};
