import type { Report } from './play.ts';

/** States that 500 seeds must reach at least once: a simulation in which nothing happens proves nothing. */
const sometimes = [
  'lost POST answer',
  'late POST',
  'late PUT',
  'PUT applied, answer lost',
  'PUT never answered',
  'address dead',
  'address dead after applied PUT',
  'crash in dying',
  'gate abort',
  'breaker open',
  '429',
  'status lags',
  'restore',
  'clock jump while retrying',
  'overwritten with its time restored',
  'folder away',
  'event lost',
  'disk trouble',
  'ledger refused a write',
  'skipped as a duplicate',
] as const;

export function missingStates(reports: readonly Report[]): readonly string[] {
  const reached = new Set(reports.flatMap((report) => report.reached));
  return sometimes.filter((state) => !reached.has(state));
}
