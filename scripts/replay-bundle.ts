import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { nextSteps } from '../src/cli/doctor/bundle/next-steps.ts';
import type { BundledFile, NextSteps } from '../src/cli/doctor/bundle/next-steps.ts';

/** Files of a bundle, as `dropcast doctor --bundle` writes them. */
export interface BundledRows {
  readonly attempts: number;
  readonly at: number;
  readonly rows: readonly (BundledFile & NextSteps)[];
}

/**
 * Plays each row of a bundle through the machine. @returns a line for each file, and whether the machine decides as it
 * did there
 */
export function replay({
  rows,
  attempts,
  at,
}: BundledRows): readonly { readonly line: string; readonly isSame: boolean }[] {
  return rows.map(({ facts, history, state, next }) => {
    const here = nextSteps(facts, attempts, at);
    const isSame = JSON.stringify(here) === JSON.stringify({ state, next });
    const way = history.map((each) => each.state).join(' → ');
    const steps = Object.entries(here.next).map(([event, to]) => `${event} → ${to}`);
    return { line: `${facts.id} ${facts.path}: ${way}; is ${here.state}; ${steps.join(', ')}`, isSame };
  });
}

export async function readBundle(file: string): Promise<BundledRows> {
  const { stdout } = await promisify(execFile)('tar', ['-xzOf', file, 'files.json'], { maxBuffer: 64 * 2 ** 20 });
  return JSON.parse(stdout) as BundledRows;
}

// `node scripts/replay-bundle.ts FILE.tar.gz`
if (import.meta.main)
  for (const { line, isSame } of replay(await readBundle(process.argv[2] ?? '')))
    process.stdout.write(`${isSame ? '' : 'DIFFERS: '}${line}\n`);
