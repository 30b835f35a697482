import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch-directory.ts';

/** Prints what a process has loaded, when it ends. */
const reporter = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  process.on('exit', () => console.error(JSON.stringify(loaded)));
`;
const main = new URL('../../src/main.ts', import.meta.url).pathname;

test('`dropcast status` without a ledger loads no HTTP client, machine, sandbox, database or table: it has 150 ms of CPU', async () => {
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('inbox'));
  const config = `service: { base_url: "https://video.example.com/v1", api_key: !env KEY }
state_dir: ${scratch.path}/state
folders: [{ path: ${scratch.path}/inbox, rules: [{ match: "**", channel: ch }] }]
`;
  await writeFile(scratch.file('dropcast.yaml'), config);
  const args = ['--import', `data:text/javascript,${encodeURIComponent(reporter)}`, main, 'status'];
  const ended = await promisify(execFile)(process.execPath, args, { cwd: scratch.path, env: {} }).catch(
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );
  expect(ended).toMatchObject({ code: 3 });
  const loaded = JSON.parse(ended.stderr.trim().split('\n').at(-1) ?? '') as readonly string[];
  expect(loaded.some((url) => url.endsWith('/src/cli/status.ts'))).toBe(true);
  const heavy =
    /packages\/(?:client|sandbox)|node_modules\/(?:got|xstate|kysely|hono|winston|string-width)\/|^node:http$/;
  expect(loaded.filter((url) => heavy.test(url))).toEqual([]);
});
