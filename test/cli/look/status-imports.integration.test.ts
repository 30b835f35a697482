import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { writeConfig } from '../../support/configuration.ts';

/** Prints what a process has loaded, when it ends. */
const reporter = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  process.on('exit', () => console.error(JSON.stringify(loaded)));
`;
const main = new URL('../../../src/main.ts', import.meta.url).pathname;

test('`dropcast status` without a ledger loads no HTTP client, machine, sandbox, database or table: it has 150 ms of CPU', async () => {
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('inbox'));
  await writeConfig(scratch);
  const loaded = await modulesLoadedBy('status', scratch.path, 3);
  expect(loaded.some((url) => url.endsWith('/src/cli/look/status.ts'))).toBe(true);
  expect(loaded.filter((url) => heavy.test(url))).toEqual([]);
});

test('`dropcast --help` loads no command, and nothing heavy', async () => {
  const loaded = await modulesLoadedBy('--help', tmpdir(), 0);
  expect(loaded.some((url) => url.endsWith('/src/cli/program.ts'))).toBe(true);
  expect(loaded.filter((url) => heavy.test(url) || /\/src\/(?:cli\/status|daemon|ledger)/.test(url))).toEqual([]);
});

/** The commands of packages are registered at each start; what they run is loaded when it runs. */
const heavy =
  /packages\/(?:client|(?:recorder|sandbox)\/src\/(?!commands\/(?:argument-types|commands)\.ts))|node_modules\/(?:got|xstate|kysely|hono|winston|string-width)\/|^node:http$/;

async function modulesLoadedBy(command: string, cwd: string, code: number): Promise<readonly string[]> {
  const args = ['--import', `data:text/javascript,${encodeURIComponent(reporter)}`, main, command];
  const { stderr, ...ended } = await promisify(execFile)(process.execPath, args, { cwd, env: {} }).then(
    (output) => ({ ...output, code: 0 }),
    (error: unknown) => error as { code: number; stderr: string },
  );
  expect(ended.code, stderr).toBe(code);
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as readonly string[];
}
