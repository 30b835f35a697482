import { fstatSync } from 'node:fs';
import { PRIORITIES } from './line-format.ts';
import type { Level } from './line-format.ts';

/**
 * Lines for stderr that are not of the log, with their priority where stderr goes to the journal: without it they count as `info`.
 *
 * `$JOURNAL_STREAM` alone does not tell: the shells of a desktop inherit it. It has device and inode of the stream (systemd.exec(5)).
 */
export function priorityLines(
  lines: readonly string[],
  level: Level,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return env['JOURNAL_STREAM'] === streamOf(2) ? lines.map((line) => `<${PRIORITIES[level]}>${line}`) : lines;
}

function streamOf(descriptor: number): string | null {
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}
