import { fstatSync } from 'node:fs';
import { PRIORITIES } from './line-format.ts';
import type { Level } from './line-format.ts';

/**
 * Adds priority prefixes to lines for stderr if it goes to the journal, which would otherwise record them as `info`.
 *
 * A set `$JOURNAL_STREAM` alone proves nothing, because desktop shells inherit it. Its value is the stream's device and
 * inode (systemd.exec(5)).
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
