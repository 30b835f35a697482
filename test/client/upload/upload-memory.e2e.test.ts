import { execFile } from 'node:child_process';
import { truncateSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

import { startHost, takeAll } from '../upload-host.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const run = promisify(execFile);

/** Uploads one file in a process of its own and prints its largest resident size in MiB. */
const program = `
  const [, url, path] = process.argv;
  const { createVideoClient } = await import('@dropcast/client');
  await using client = createVideoClient({ baseUrl: url, apiKey: 'sk_of_the_test', maxRetries: 0, proxyEnv: {} });
  await client.videos.send(path, { id: 'vid_1', uploadUrl: url }, { stallTimeoutMs: 20_000 });
  console.log(JSON.stringify({ mib: Math.round(process.resourceUsage().maxRSS / 1024) }));
`;

test('an upload of 300 MB needs at most 150 MiB of memory', async () => {
  await using host = await startHost(takeAll());
  await using folder = await scratchDirectory();
  const path = await folder.write('large.mp4', '');
  truncateSync(path, 300_000_000);
  const args = ['--input-type=module', '--eval', program, host.origin, path];
  const { stdout } = await run(process.execPath, args, { cwd: import.meta.dirname });
  const { mib } = JSON.parse(stdout) as { mib: number };
  expect(host.seen[0]).toMatchObject({ bytes: 300_000_000, isComplete: true });
  expect(mib).toBeGreaterThan(20);
  expect(mib).toBeLessThan(150);
});
