import { expect, test } from 'vitest';
import { SkippedError } from '../../../src/cli/doctor/finding.ts';
import type { Check } from '../../../src/cli/doctor/finding.ts';
import type { Patient } from '../../../src/cli/doctor/patient.ts';
import { runChecks } from '../../../src/cli/doctor/run-checks.ts';

const nobody = {} as Patient;
const check = (name: string, run: Check['run']): Check => ({ name, run });

test('a check that hangs, fails or cannot be made keeps no other from its result', async () => {
  const told: string[] = [];
  const results = await runChecks(
    [
      check('hangs', () => new Promise(() => undefined)),
      check('fails', () => Promise.reject(new Error('odd'))),
      check('skips', () => Promise.reject(new SkippedError('not here'))),
      check('fine', async () => []),
    ],
    nobody,
    ({ name }) => told.push(name),
    10,
  );
  expect(told).toEqual(['hangs', 'fails', 'skips', 'fine']);
  expect(results).toMatchObject([
    { isHung: true, findings: [{ level: 'problem' }] },
    { findings: [{ level: 'warning', what: 'the check failed: odd' }] },
    { skipped: 'not here', findings: [] },
    { skipped: null, findings: [] },
  ]);
});
