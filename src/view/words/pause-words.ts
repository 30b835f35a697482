import type { OperatorPause } from '../../pipeline/events.ts';
import { operatorCommand } from '../../service-user.ts';
import { clockTime } from './clock-time.ts';

/** Describes a pause: `paused by anna since 14:02 until 18:00`. Pure. */
export function pauseWords({ by, since, until }: OperatorPause, nowMs: number): string {
  const end = until === null ? '' : ` until ${clockTime(until, nowMs)}`;
  return `paused by ${by} since ${clockTime(since, nowMs)}${end}`;
}

/** Returns the command that ends a pause. Pure. */
export function resumeCommand({ folder }: Pick<OperatorPause, 'folder'>): string {
  return `\`${operatorCommand(`dropcast resume ${folder ?? '--all'}`)}\``;
}
