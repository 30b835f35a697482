import { mkdir } from 'node:fs/promises';
import type * as FileSystem from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { checkDirectories } from '../../src/config/check-directories.ts';
import { scratch } from './scratch.ts';

// A share whose server is gone: only the kernel could show the real thing.
vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof FileSystem>();
  const hangs = (path: unknown): boolean => String(path).endsWith('/dead');
  const realpath = (path: string): Promise<string> =>
    hangs(path) ? new Promise<never>(() => undefined) : real.realpath(path);
  return { ...real, realpath };
});
afterEach(() => vi.useRealTimers());

test('a folder that does not respond is given up after 5 s, and the others are checked', async () => {
  await using here = await scratch();
  await mkdir(join(here.path, 'alive'));
  await here.write('file', '');
  const folders = ['dead', 'alive', 'file'].map((name, index) => ({
    key: `folders[${index}]`,
    path: join(here.path, name),
    afterReady: { kind: 'keep' as const },
  }));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const checked = checkDirectories(
    { file: join(here.path, 'dropcast.yaml'), stateDir: join(here.path, 'state'), folders },
    () => ({ line: 1, column: 1 }),
  );
  // Each folder has a timer until its calls have returned.
  while (vi.getTimerCount() > 1) await setImmediate();
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await checked).map(({ key, passing, message }) => [key, passing, message.replace(here.path, '')])).toEqual([
    ['folders[0].path', true, expect.stringContaining('/dead does not respond')],
    ['folders[2].path', true, expect.stringContaining('/file is not a directory')],
  ]);
});
