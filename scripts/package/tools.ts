import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { errnoOf } from '../../src/errno.ts';

const run = promisify(execFile);

/** @param tools programs, and the Debian packages that have them @returns what is missing with the line that installs it, or null */
export async function missingTools(tools: Readonly<Record<string, string>>): Promise<string | null> {
  const missing: string[] = [];
  for (const tool of Object.keys(tools)) {
    await run(tool, ['--version']).catch((error: unknown) => {
      // A program without that option is there too.
      if (errnoOf(error) === 'ENOENT') missing.push(tool);
    });
  }
  if (missing.length === 0) return null;
  const packages = [...new Set(missing.map((tool) => tools[tool] ?? tool))].join(' ');
  return `${missing.join(' and ')} cannot be run: sudo apt-get install ${packages}`;
}
