import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch-directory.ts';

const main = new URL('../../src/main.ts', import.meta.url).pathname;

/** What a command that fails leaves in the file that is its stderr. */
async function stderrOf(journalStream: (own: string) => string | undefined): Promise<string> {
  await using folder = await scratchDirectory();
  const file = folder.file('stderr');
  const descriptor = openSync(file, 'w');
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    const stream = journalStream(`${dev}:${ino}`);
    const { status } = spawnSync(process.execPath, [main, 'run', '--config', 'missing.yaml'], {
      cwd: folder.path,
      env: { PATH: process.env['PATH'], ...(stream !== undefined && { JOURNAL_STREAM: stream }) },
      stdio: ['ignore', 'ignore', descriptor],
    });
    expect(status).toBe(78);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

test('why a command ended is an error in the journal, on each of its lines', async () => {
  const lines = (await stderrOf((own) => own)).trimEnd().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^<3>no configuration file found.*missing\.yaml/),
    expect.stringMatching(/^<3>Copy config\.example\.yaml/),
  ]);
});

test.each([
  ['without a journal', undefined],
  ['where the journal takes another stream, as in a terminal of a desktop', '1:2'],
])('and bare %s', async (_, stream) => {
  expect(await stderrOf(() => stream)).toMatch(/^no configuration file found;[^<]*$/);
});
