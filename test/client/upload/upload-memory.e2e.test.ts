import { execFile } from 'node:child_process';
import { truncateSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

import { startHost, takeAll, tempFolder, versionOf } from '../upload-host.ts';

const run = promisify(execFile);

/** Uploads one file in a process of its own and prints its largest resident size in MiB. */
const client = `
  const [, url, root, path, expected] = process.argv;
  const { uploadFile } = await import(${JSON.stringify(new URL('../../../packages/client/src/upload/upload.ts', import.meta.url).href)});
  const { freshConnections } = await import(${JSON.stringify(new URL('../../../packages/client/src/transport/connection.ts', import.meta.url).href)});
  const { createUploadTargets } = await import(${JSON.stringify(new URL('../../../packages/client/src/upload/upload-targets.ts', import.meta.url).href)});
  const targets = createUploadTargets({ baseUrl: url, named: new Set() });
  const world = { agent: freshConnections({}), userAgent: 'x', targets, keyFor: () => null };
  const options = { url, root, path, expected: JSON.parse(expected), stallTimeoutMs: 20000, signal: new AbortController().signal };
  const startedAt = performance.now();
  await uploadFile({ ...options, beforeLastPart: async () => {} }, world);
  console.log(JSON.stringify({ mib: Math.round(process.resourceUsage().maxRSS / 1024), ms: Math.round(performance.now() - startedAt) }));
`;

test('an upload of 300 MB needs no more memory than 150 MiB', async () => {
  await using host = await startHost(takeAll());
  using folder = tempFolder();
  const { path } = folder.file('large.mp4', '');
  truncateSync(path, 300_000_000);
  const args = [
    '--input-type=module',
    '--eval',
    client,
    host.origin,
    folder.path,
    path,
    JSON.stringify(versionOf(path)),
  ];
  const { stdout } = await run(process.execPath, args);
  const { mib } = JSON.parse(stdout) as { mib: number };
  expect(host.seen[0]).toMatchObject({ bytes: 300_000_000, isComplete: true });
  expect(mib).toBeGreaterThan(20);
  expect(mib).toBeLessThan(150);
});
