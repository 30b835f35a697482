import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('npm run demo: five files in two channels are ready, one publish, exit code 0', async () => {
  // Rejects when the exit code is not 0.
  const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'demo'], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1' },
  });
  const rows = stdout.split('\n').filter((line) => / ch_(main|news) /.test(line));
  expect(rows).toHaveLength(5);
  expect(rows.filter((row) => / done .* ch_news .* vid_/.test(row))).toHaveLength(3);
  expect(rows.filter((row) => / done .* ch_main .* vid_/.test(row))).toHaveLength(2);
  expect(stdout).toMatch(/^5 of 5 files are ready and published, with \d+ API requests \(1 publish\)\.$/m);
});
