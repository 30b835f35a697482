import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { home, run } from './tools.ts';

/** Installs the tools, unless those of the lock file are there. */
export async function setup(): Promise<void> {
  const lock = join(import.meta.dirname, 'package-lock.json');
  const installed = join(home, 'node_modules/installed.json');
  const [wanted, present] = await Promise.all([readFile(lock, 'utf8'), readFile(installed, 'utf8').catch(() => null)]);
  if (wanted === present) return;
  await mkdir(home, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) await cp(join(import.meta.dirname, name), join(home, name));
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: home });
  await cp(lock, installed);
}
