import type { Report } from './play.ts';

/** States that a run must reach at least once: a simulation in which nothing happens proves nothing. */
const sometimes = [
  'lost POST answer',
  'late POST',
  'late PUT',
  'PUT applied, answer lost',
  'PUT never answered',
  'address dead',
  'address dead after applied PUT',
  'gate abort',
  'upload continued',
  'host claims too much',
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
  'ledger copied',
  'skipped as a duplicate',
  'retried by name',
  'rules applied again',
] as const;

/** States that thousands of lives must reach. The explorer goes through all of them in every run. */
const seldom = ['crash in dying'] as const;
const many = 5000;

export function missingStates(reports: readonly Report[], states?: readonly string[]): readonly string[] {
  const reached = new Set(reports.flatMap((report) => report.reached));
  if (states !== undefined) return states.filter((state) => !reached.has(state));
  const wanted = reports.length < many ? sometimes : [...sometimes, ...seldom];
  return wanted.filter((state) => !reached.has(state));
}
