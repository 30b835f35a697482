import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const MEMORY = ['--max-semi-space-size=8', '--heap-growing-percent=50'];

test.each(['systemd/dropcast.service', 'systemd/dropcast@.service'])(
  '%s starts the daemon with a heap that stays small',
  async (file) => {
    const text = await readFile(join(root, file), 'utf8');
    const start = text.split('\n').find((line) => line.startsWith('ExecStart=')) ?? '';
    expect(start.split(' ')).toEqual(expect.arrayContaining(MEMORY));
  },
);

test('this Node knows the flags, also without a compiler', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--jitless', ...MEMORY, '-p', '1 + 1']);
  expect(stdout.trim()).toBe('2');
});
