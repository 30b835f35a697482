import type { OperatorPause } from '../../pipeline/events.ts';
import { operatorCommand } from '../../service-user.ts';
import { clockTime } from './clock-time.ts';

/** Pure: who paused since when until when, as 'paused by anna since 14:02 until 18:00'. */
export function pauseWords({ by, since, until }: OperatorPause, nowMs: number): string {
  const end = until === null ? '' : ` until ${clockTime(until, nowMs)}`;
  return `paused by ${by} since ${clockTime(since, nowMs)}${end}`;
}

/** Pure: how a pause is ended by hand. */
export function resumeCommand({ folder }: Pick<OperatorPause, 'folder'>): string {
  return `\`${operatorCommand(`dropcast resume ${folder ?? '--all'}`)}\``;
}
