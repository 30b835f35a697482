import type { Pause } from '../../pipeline/events.ts';

/** What has to change before work resumes. */
export type Obstacle = 'key' | 'account' | 'service' | 'upload host' | 'machine';

type Stop = Pick<Pause, 'kind' | 'holds' | 'code'>;

/** Pure: failures of this machine have the errno name of the system as their code; what the service refuses has a word of its own. */
export function obstacleOf({ kind, holds, code }: Stop): Obstacle {
  if (kind === 'suspended' && /^[A-Z]/.test(code)) return 'machine';
  if (holds === 'uploads') return 'upload host';
  if (kind === 'offline') return 'service';
  return accountCodes.has(code) ? 'account' : 'key';
}

const accountCodes: ReadonlySet<string> = new Set(['forbidden', 'payment_required']);

/**
 * Pure: what a file or a list says. The whole reason and what to do about it appear once on each surface, with the state of the daemon;
 * everything else that waits refers to it with `for the key`.
 */
export function awaited(stop: Stop): string {
  const obstacle = obstacleOf(stop);
  return obstacle === 'machine' ? 'for this machine' : `for the ${obstacle}`;
}

/** Pure: this obstacle is gone. It does not say that work resumes: something else may stop it. */
export function overWords(stop: Stop): string {
  return over[obstacleOf(stop)];
}

const over: Readonly<Record<Obstacle, string>> = {
  key: 'The service accepts the key again',
  account: 'The service accepts the account again',
  service: 'The service is reachable again',
  'upload host': 'Files can be uploaded again',
  machine: 'This machine works again',
};
