import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const main = new URL('../../src/main.ts', import.meta.url).pathname;

/** What a command that fails leaves in the file that is its stderr. */
function stderrOf(journalStream: (own: string) => string | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), 'dropcast-journal-'));
  const file = join(folder, 'stderr');
  const descriptor = openSync(file, 'w');
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    const stream = journalStream(`${dev}:${ino}`);
    const { status } = spawnSync(process.execPath, [main, 'run', '--config', 'missing.yaml'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], ...(stream !== undefined && { JOURNAL_STREAM: stream }) },
      stdio: ['ignore', 'ignore', descriptor],
    });
    expect(status).toBe(78);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(descriptor);
    rmSync(folder, { recursive: true });
  }
}

test('why a command ended is an error in the journal, on each of its lines', () => {
  const lines = stderrOf((own) => own)
    .trimEnd()
    .split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^<3>no configuration file found.*missing\.yaml/),
    expect.stringMatching(/^<3>Copy config\.example\.yaml/),
  ]);
});

test.each([
  ['without a journal', undefined],
  ['where the journal takes another stream, as in a terminal of a desktop', '1:2'],
])('and bare %s', (_, stream) => {
  expect(stderrOf(() => stream)).toMatch(/^no configuration file found;[^<]*$/);
});
