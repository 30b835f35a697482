import { fstatSync } from 'node:fs';
import { PRIORITIES } from './line-format.ts';
import type { Level } from './line-format.ts';

/**
 * Adds the priority prefix to lines for stderr when stderr goes to the journal, which otherwise records them as `info`.
 *
 * That `$JOURNAL_STREAM` is set proves nothing: desktop shells inherit it. Its value is device and inode of the stream
 * (systemd.exec(5)).
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
