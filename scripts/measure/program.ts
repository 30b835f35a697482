import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { bundled } from '../../bench/build.ts';
import { output } from '../../bench/child.ts';
import { wholePipeline } from '../../bench/growth/flow.ts';
import { bench as idle } from '../../bench/idle.bench.ts';
import type { Figure } from './measure.ts';

/** CPU of the bundled program, as `npm run bench -- growth idle` measures it, in one round. */
export async function cpuFigures(root: string): Promise<readonly Figure[]> {
  const build = await bundled(root, root);
  const { cpuMsPerFile } = await wholePipeline(build, 2_000);
  const { values } = await idle.round(build, 'full');
  return [
    { of: 'CPU per file in ms, 2,000 files', what: 'used', value: cpuMsPerFile },
    { of: 'idle CPU in % of a core, 100,000 known files', what: 'used', value: values['cpu'] ?? Number.NaN },
  ];
}

/** Size of the Debian package, which the checkout builds. */
export async function debFigures(root: string): Promise<readonly Figure[]> {
  await output(join(root, 'node_modules/.bin/node'), ['scripts/package.ts', '--fast'], { cwd: root });
  const build = join(root, 'build');
  const files = (await readdir(build)).filter((name) => name.endsWith('.deb'));
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(build, name))).size));
  return [{ of: '.deb in KB, compressed little', what: 'size', value: Math.round(Math.max(...sizes) / 1_000) }];
}
