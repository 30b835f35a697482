import { expect, test, vi } from 'vitest';
import { follow } from '../../../src/cli/api/follow.ts';
import type { Videos } from '../../../packages/client/src/video-client.ts';
import { NotFoundError, WaitTimeoutError } from '../../../packages/client/src/errors.ts';
import { fakeSession, fakeShell } from './fake-shell.ts';

const ready = { id: 'vid_1', status: 'ready' };
const quiet = (): void => undefined;

test('the first minute asks often, the day after it seldom', async () => {
  const waitUntilReady = vi
    .fn<Videos['waitUntilReady']>()
    .mockRejectedValueOnce(new WaitTimeoutError('vid_1', 60_000, 'processing'))
    .mockResolvedValueOnce(ready);
  expect(await follow(fakeSession(fakeShell(), { videos: { waitUntilReady } }), 'vid_1', quiet)).toBe(ready);
  const paces = waitUntilReady.mock.calls.map(([, options]) => [options?.waitMs, options?.intervalMs]);
  expect(paces).toEqual([
    [60_000, 2_000],
    [86_400_000, 15_000],
  ]);
});

test('any other failure ends it', async () => {
  const waitUntilReady = vi.fn<Videos['waitUntilReady']>().mockRejectedValue(new NotFoundError('404'));
  const done = follow(fakeSession(fakeShell(), { videos: { waitUntilReady } }), 'vid_1', quiet);
  await expect(done).rejects.toThrow(NotFoundError);
  expect(waitUntilReady).toHaveBeenCalledTimes(1);
});
