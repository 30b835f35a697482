import { unlessHung } from '../../unless-hung.ts';
import { hungFix, problem, SkippedError, warning } from './finding.ts';
import type { Check, Finding } from './finding.ts';
import type { Patient } from './patient.ts';

export interface CheckResult {
  readonly name: string;
  readonly findings: readonly Finding[];
  /** Why the check did not run; null if it did. */
  readonly skipped: string | null;
  /** Whether the check timed out. */
  readonly isHung: boolean;
}

/** Time limit per check, because an unresponsive disk must not delay the results of other checks. */
const longestMs = 15_000;

/**
 * Runs all checks one after another, each with a time limit.
 *
 * @param done receives each result as soon as it is available
 */
export async function runChecks(
  checks: readonly Check[],
  patient: Patient,
  done: (result: CheckResult) => void,
  limitMs = longestMs,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    const result = (await unlessHung(resultOf(check, patient), limitMs)) ?? hung(check, limitMs);
    results.push(result);
    done(result);
  }
  return results;
}

async function resultOf({ name, run }: Check, patient: Patient): Promise<CheckResult> {
  try {
    return { name, findings: await run(patient), skipped: null, isHung: false };
  } catch (error) {
    if (error instanceof SkippedError) return { name, findings: [], skipped: error.message, isHung: false };
    // A check that crashes must not hide the others.
    const what = `the check failed: ${error instanceof Error ? error.message : String(error)}`;
    return { name, findings: [warning(what, 'so its result is unknown')], skipped: null, isHung: false };
  }
}

function hung({ name }: Check, limitMs: number): CheckResult {
  const what = `no answer within ${limitMs / 1000} s: a disk, a share or a server does not respond`;
  return { name, findings: [problem(what, 'dropcast waits for it too', hungFix)], skipped: null, isHung: true };
}
