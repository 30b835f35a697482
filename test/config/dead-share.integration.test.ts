import { mkdir } from 'node:fs/promises';
import type * as FileSystem from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { inspectSurroundings } from '../../src/config/inspect.ts';
import { makeScratch } from '../e2e/dropcast-process.ts';

// A share whose server is gone: only the kernel could show the real thing.
vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof FileSystem>();
  const hangs = (path: unknown): boolean => String(path).endsWith('/dead');
  const realpath = (path: string): Promise<string> =>
    hangs(path) ? new Promise<never>(() => undefined) : real.realpath(path);
  return { ...real, realpath };
});

test('a folder that does not answer is away after 5 s, and the others are looked at', async () => {
  await using scratch = await makeScratch(() => '');
  await mkdir(scratch.file('alive'));
  const folder = (name: string, index: number) => ({
    key: `folders[${index}]`,
    path: join(scratch.path, name),
    afterReady: { kind: 'keep' as const },
  });
  const problems = await inspectSurroundings(
    { file: scratch.config, stateDir: scratch.file('state'), folders: [folder('dead', 0), folder('alive', 1)] },
    () => ({ line: 1, column: 1 }),
  );
  expect(problems).toMatchObject([
    { key: 'folders[0].path', passing: true, message: expect.stringContaining('does not answer') },
  ]);
});
