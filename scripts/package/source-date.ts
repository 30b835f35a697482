import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * The time that everything in the package bears, in seconds: $SOURCE_DATE_EPOCH
 * (https://reproducible-builds.org/specs/source-date-epoch/), else of the last commit, else the day that the changes
 * name first.
 *
 * @param changes content of CHANGELOG.md
 * @throws when none of the three says anything
 */
export async function sourceDate(
  root: string,
  changes: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const given = environment['SOURCE_DATE_EPOCH'];
  if (given !== undefined) {
    if (!/^\d{1,10}$/.test(given)) throw new Error('SOURCE_DATE_EPOCH must be a whole number of seconds');
    return Number(given);
  }
  // Sources that were unpacked inside of somebody's repository are not of its commits.
  if (existsSync(join(root, '.git'))) {
    const { stdout } = await run('git', ['log', '-1', '--format=%ct'], { cwd: root });
    return Number(stdout);
  }
  const day = /\d{4}-\d{2}-\d{2}/.exec(changes)?.[0];
  if (day === undefined) throw new Error('no commit and no day in CHANGELOG.md: set SOURCE_DATE_EPOCH');
  return Date.parse(`${day}T00:00:00Z`) / 1000;
}
