import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killListed } from './started-processes.ts';

/**
 * The last to look for processes of tests: one that a worker left behind (it was killed, or broke) is killed here, and fails
 * the run. `child-processes.ts` writes the list.
 *
 * All processes of a run share one compile cache: starting a daemon takes 15 % less processor time, a simulation 40 %.
 */
export function setup(): () => void {
  if (process.env['DROPCAST_TEST_PROCESSES'] !== undefined) return () => {}; // another project of the same run has made it
  const folder = mkdtempSync(join(tmpdir(), 'dropcast-processes-'));
  const list = join(folder, 'list');
  writeFileSync(list, '');
  process.env['DROPCAST_TEST_PROCESSES'] = list;
  process.env['NODE_COMPILE_CACHE'] ??= join(folder, 'compiled');
  return () => {
    const left = killListed(list);
    // A worker that ends may still write to the cache.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    if (left.length > 0) throw new Error(`processes outlived their tests, and are killed now:\n  ${left.join('\n  ')}`);
  };
}
