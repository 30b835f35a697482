import { html } from 'hono/html';
import type { FaultRule } from '../faults/fault-rule.ts';
import type { Fault } from '../faults/faults.ts';
import { visibleText, counted, span } from './words.ts';
import { badge, type Html } from './elements.ts';

/** What goes wrong where, how often it did, and for how long it will. */
export function faultSummary(fault: Fault, nowMs: number): Html {
  return html`${badge('on', fault.rule.kind)} ${operationOf(fault.rule)}
    <span class="muted">${hitsOf(fault)}, ${timeLeft(fault, nowMs)}</span>`;
}

export function operationOf({ operation }: FaultRule): string {
  return operation === '*' ? 'all operations' : operation;
}

export function hitsOf({ applied, calls }: Pick<Fault, 'applied' | 'calls'>): string {
  return `hit ${applied} of ${counted(calls, 'call')}`;
}

export function timeLeft({ expiresAtMs }: Pick<Fault, 'expiresAtMs'>, nowMs: number): string {
  return expiresAtMs === null ? 'until switched off' : `${span(expiresAtMs - nowMs)} left`;
}

/** All that the rule says beside its kind, operation and time to live, as it was given. */
export function detailsOf({ kind: _kind, operation: _operation, ttl_ms: _ttl, ...rest }: FaultRule): string {
  return Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `${name}: ${visibleText(typeof value === 'object' ? JSON.stringify(value) : String(value))}`,
    )
    .join(', ');
}
