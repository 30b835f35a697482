import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programFiles } from '../scripts/package/contents.ts';
import { writeTree } from '../scripts/package/packaged-file.ts';
import { medianMs, root, runNode } from './timing.ts';

/** How long a command takes to start, from sources and from the bundle of the package, against an empty Node. */
export async function bench(): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'dropcast-bench-'));
  try {
    await writeTree((await programFiles(root)).files, folder, 0);
    const bundle = join(folder, 'usr/lib/dropcast/dist/main.js');
    const empty = await medianMs(() => runNode('-e', ''));
    const sources = await medianMs(() => runNode('src/main.ts', '--version'));
    const packaged = await medianMs(() => runNode(bundle, '--version'));
    const line = (what: string, ms: number): string =>
      `${what.padEnd(28)} ${ms.toFixed(0).padStart(5)} ms  ${(ms / empty).toFixed(1)} × an empty Node`;
    return [
      line('node -e ""', empty),
      line('dropcast --version, sources', sources),
      line('dropcast --version, package', packaged),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
