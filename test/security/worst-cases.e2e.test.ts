import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

import { scratchDirectory } from '../support/scratch-directory.ts';

const root = join(import.meta.dirname, '../..');

/** The flags that the service runs with. Without a JIT compiler patterns cost ten times as much. */
async function shippedFlags(): Promise<readonly string[]> {
  const unit = await readFile(join(root, 'systemd/dropcast.service'), 'utf8');
  const [, flags = ''] = /^ExecStart=\S+ (.*) \S+main\.js run$/m.exec(unit) ?? [];
  return flags.split(' ');
}

async function worstCases(): Promise<readonly { readonly name: string; readonly units: number }[]> {
  await using folder = await scratchDirectory();
  const file = join(folder.path, 'worst-cases.mjs');
  // Without a JIT compiler Node cannot strip types.
  const bundle = await rolldown({
    input: join(import.meta.dirname, 'worst-cases.ts'),
    platform: 'node',
    resolve: { conditionNames: ['source', 'import', 'node', 'default'] },
    logLevel: 'silent',
  });
  await bundle.write({ file, format: 'esm' });
  const flags = await shippedFlags();
  expect(flags).toContain('--jitless');
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, file]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; units: number });
}

test('no parser and no scrubber stops the service for long, whatever comes from outside', async () => {
  const cases = await worstCases();
  expect(cases.length).toBeGreaterThan(80);
  // Ten units are about a second. The time of the processor is compared, not that of the clock: other processes do not count.
  expect(cases.filter(({ units }) => units > 10)).toEqual([]);
});
