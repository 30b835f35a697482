import { expect, test, vi } from 'vitest';
import { follow } from '../../../src/cli/api/upload-video.ts';
import type { Videos } from '../../../packages/client/src/video-client.ts';
import { NotFoundError, RateLimitedError, ServerError } from '../../../packages/client/src/errors.ts';
import { fakeSession, fakeShell } from './fake-shell.ts';

const ready = { id: 'vid_1', status: 'ready' };
const quiet = (): void => undefined;

test('the first minute asks often, the day after it seldom', async () => {
  const waitUntilReady = vi.fn<Videos['waitUntilReady']>().mockResolvedValueOnce(ready);
  expect(await follow(fakeSession(fakeShell(), { videos: { waitUntilReady } }), 'vid_1', quiet)).toBe(ready);
  const [, options] = waitUntilReady.mock.calls[0] ?? [];
  const { intervalMs } = options ?? {};
  const interval = typeof intervalMs === 'function' ? intervalMs : () => intervalMs;
  expect([0, 59_999, 60_000, 86_399_999].map((waitedMs) => interval(waitedMs))).toEqual([2000, 2000, 15_000, 15_000]);
  expect(options?.waitMs).toBe(86_400_000);
});

test('a pause that the service asks for is said with its reason, and ends with the next answer', async () => {
  const told: unknown[] = [];
  const waitUntilReady: Videos['waitUntilReady'] = async (_, options) => {
    const limited = { operation: 'get video', reason: 'rate limited', ms: 600_000 } as const;
    options?.onStatus?.('processing');
    options?.onWait?.({ ...limited, error: new RateLimitedError('429', { status: 429 }) });
    options?.onWait?.({ operation: 'get video', reason: 'failed', ms: 2000, error: new ServerError('answered 502') });
    options?.onWait?.({ operation: 'get video', reason: 'not ready', ms: 2000, status: 'processing' });
    return ready;
  };
  const session = fakeSession(fakeShell(), { videos: { waitUntilReady } });
  await follow(session, 'vid_1', (status, why) => void told.push([status, why]));
  expect(told).toEqual([
    ['processing', null],
    ['processing', 'rate limited; checking again in 10 m'],
    ['processing', 'answered 502; checking again in 2 s'],
    ['processing', null],
  ]);
});

test('any other failure ends it', async () => {
  const waitUntilReady = vi.fn<Videos['waitUntilReady']>().mockRejectedValue(new NotFoundError('404'));
  const done = follow(fakeSession(fakeShell(), { videos: { waitUntilReady } }), 'vid_1', quiet);
  await expect(done).rejects.toThrow(NotFoundError);
  expect(waitUntilReady).toHaveBeenCalledTimes(1);
});
