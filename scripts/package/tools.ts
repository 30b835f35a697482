import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Programs that building the package needs, and the Debian packages that have them. */
const needed: Readonly<Record<string, string>> = { 'dpkg-deb': 'dpkg', strip: 'binutils' };

/** @returns what is missing with the line that installs it, or null */
export async function missingTools(tools: Readonly<Record<string, string>> = needed): Promise<string | null> {
  const missing: string[] = [];
  for (const tool of Object.keys(tools)) {
    await run(tool, ['--version']).catch(() => missing.push(tool));
  }
  if (missing.length === 0) return null;
  const packages = missing.map((tool) => tools[tool] ?? tool).join(' ');
  return `${missing.join(' and ')} cannot be run: sudo apt-get install ${packages}`;
}
