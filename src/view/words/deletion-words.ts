import type { Facts } from '../../pipeline/file/facts.ts';
import { clockTime } from './clock-time.ts';

/**
 * When the local file of a finished video is deleted, for a person: `will be deleted after 2026-11-29 14:00, or when the disk is 85 % full`.
 *
 * @returns null when it is not to be deleted later
 */
export function deletionWords({ disposal, afterReady, endedAt }: Facts, nowMs = Date.now()): string | null {
  if (disposal !== 'later' || afterReady.kind !== 'delete' || afterReady.later === undefined) return null;
  const { afterMs, whenFull } = afterReady.later;
  const whens = [
    ...(afterMs === null ? [] : [`after ${clockTime((endedAt ?? 0) + afterMs, nowMs)}`]),
    ...(whenFull === null ? [] : [`when the disk is ${whenFull} % full`]),
  ];
  return `will be deleted ${whens.join(', or ')}`;
}
