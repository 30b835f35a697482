import { fileURLToPath } from 'node:url';
import { execute } from '../../systemd/execute.ts';
import { nextVersion } from './next-version.ts';

/** The version that `nextVersion` is released as. */
export const next = '0.1.1';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Releases this version, and then the next one into the same tree, as a publisher does. The signatures are those of the second
 * release.
 *
 * @param sources where the sources of the next version go
 */
export async function writeTwoVersions(tree: string, sources: string): Promise<void> {
  await release(root, tree);
  await nextVersion(root, sources);
  await release(sources, tree, '--version', next);
}

async function release(cwd: string, tree: string, ...args: readonly string[]): Promise<void> {
  const options = ['--out', tree, '--only', 'apt,rpm', '--fast', '--dirty', ...args];
  const { code, stdout, stderr } = await execute([process.execPath, 'scripts/release.ts', ...options], {
    cwd,
    timeoutMs: 900_000,
  });
  if (code !== 0) throw new Error(`${options.join(' ')} ended with ${code}: ${stdout}${stderr}`);
}
