import type { Pause } from '../../pipeline/events.ts';
import { accountTroubleOf } from '../../pipeline/file/account-trouble.ts';
import type { AccountTrouble } from '../../pipeline/file/account-trouble.ts';
import { awayCode } from '../../pipeline/file/store-errors.ts';

/** The change that is needed before work can resume. */
export type Obstacle = 'database' | 'key' | AccountTrouble | 'service' | 'upload host' | 'machine';

type Stop = Pick<Pause, 'kind' | 'holds' | 'code' | 'trouble'>;

/**
 * Identifies the obstacle from a pause's code. This machine's failures have the system's errno name as their code; the
 * service's refusals have codes of their own. Pure.
 */
export function obstacleOf({ kind, holds, code, trouble }: Stop): Obstacle {
  if (trouble !== undefined) return trouble;
  if (code === awayCode) return 'database';
  if (kind === 'suspended' && /^[A-Z]/.test(code)) return 'machine';
  if (holds === 'uploads') return accountTroubleOf({ code }) ?? 'upload host';
  if (kind === 'offline') return 'service';
  return accountCodes.has(code) ? 'account' : 'key';
}

const accountCodes: ReadonlySet<string> = new Set(['forbidden', 'payment_required']);

/**
 * Reports that an obstacle is gone. Does not promise that work resumes, because something else may still block it.
 * Pure.
 */
export function overWords(obstacle: Obstacle): string {
  return over[obstacle];
}

const over: Readonly<Record<Obstacle, string>> = {
  database: 'The database answers again',
  key: 'The service accepts the key again',
  account: 'The service accepts the account again',
  quota: 'The quota of the service has room again',
  storage: 'The service has storage again',
  channel: 'The service accepts new videos of the channel again',
  service: 'The service is reachable again',
  'upload host': 'Files can be uploaded again',
  machine: 'This machine works again',
};
