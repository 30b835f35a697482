import { expect, test } from 'vitest';
import { creatingRecord, explain, waitingForVideo } from '../../../src/cli/api/failures.ts';
import {
  AbortedError,
  ConnectionError,
  ForbiddenError,
  NotFoundError,
  RateLimitedError,
  RejectedError,
  ServerError,
  UnauthorizedError,
  VideoFailedError,
} from '../../../packages/client/src/errors.ts';
import { fakeShell } from './fake-shell.ts';

const target = { keyFrom: 'service.api_key of dropcast.yaml', baseUrl: 'https://video.example.com/v1' };

/** What a person reads. */
function sentence(error: unknown, shell = fakeShell()): string {
  const explained = explain(error, { shell, target });
  expect(explained).toMatchObject({ name: 'CommandError', exitCode: 1 });
  return (explained as Error).message;
}

test('what the service says is one sentence, with what to do about it', () => {
  expect(sentence(new NotFoundError('the service answered 404 not_found: no\u{1B} such video'))).toBe(
    String.raw`the service answered 404 not_found: no\x1b such video`,
  );
  expect(sentence(new UnauthorizedError('the service answered 401'))).toContain('; the key is from service.api_key of');
  expect(sentence(new ForbiddenError('the service answered 403'))).toContain(target.keyFrom);
  expect(sentence(new RateLimitedError('429', { retryAfterMs: 720_000 }))).toMatch(/^429; .* 12 m$/);
  expect(sentence(new ServerError('500', { requestId: 'req_1' }))).toContain('req_1');
  const untrusted = new ConnectionError(false, 'name its file in NODE_EXTRA_CA_CERTS (X)', { code: 'X' });
  expect(sentence(untrusted)).toContain('--ca FILE');
});

test('the full stop at the end of what the service says is not followed by a semicolon', async () => {
  const limited = new RateLimitedError('429: Too many requests.', { retryAfterMs: 1000 });
  expect(sentence(limited)).toMatch(/^429: Too many requests; .* 1 s$/);
  expect(sentence(new RejectedError('422: No.'))).toBe('422: No.');
  const left = await creatingRecord((onId) => (onId('vid_1'), Promise.reject(new RejectedError('422: No.')))).catch(
    (thrown: unknown) => thrown,
  );
  expect(sentence(left)).toMatch(/^422: No; the record vid_1 /);
});

test('where nothing is at an address without a version, the version is what is missing', () => {
  const nothing = new NotFoundError('404');
  const explained = explain(nothing, {
    shell: fakeShell(),
    target: { ...target, baseUrl: 'https://video.example.com' },
  });
  expect((explained as Error).message).toMatch(/^404; .*\/v1/);
  expect(sentence(nothing)).toBe('404');
});

test('a malformed id is a usage error', () => {
  const failed = new RejectedError('".." is not an id', { code: 'invalid_id' });
  expect(explain(failed, { shell: fakeShell(), target })).toMatchObject({ exitCode: 2 });
});

test('a user who stops waiting sees how to check the video later, except when it failed', async () => {
  const stopped = fakeShell();
  stopped.stop();
  const watched = (failed: Error) =>
    waitingForVideo('vid_1', () => Promise.reject(failed)).catch((thrown: unknown) => thrown);
  expect(sentence(await watched(new AbortedError('get video')), stopped)).toMatch(
    /^stopped .*; .*`dropcast videos get vid_1`/,
  );
  expect(sentence(await watched(new VideoFailedError('vid_1', 'damaged')))).toMatch(/vid_1.*damaged$/);
});

test('Ctrl-C is reported as such, any other abort is not', () => {
  const stopped = fakeShell();
  stopped.stop();
  expect(sentence(new AbortedError('list videos'), stopped)).toMatch(/^stopped /);
  expect(sentence(new AbortedError('list videos'))).toBe(new AbortedError('list videos').message);
});

test('a bug stays what it is', () => {
  const bug = new TypeError('x is not a function');
  expect(explain(bug, { shell: fakeShell(), target })).toBe(bug);
});

test.each([
  [new ConnectionError(true, 'broke', {}), true],
  [new ConnectionError(false, 'unreachable', {}), false],
  [new ServerError('500'), true],
  [new AbortedError('create video'), true],
  [new RejectedError('422'), false],
])('a create that failed with %s: may a record have been made? %s', async (failed, mayBe) => {
  const failure = await creatingRecord(() => Promise.reject(failed)).catch((thrown: unknown) => thrown);
  expect(sentence(failure).includes('see `dropcast videos list`')).toBe(mayBe);
});

test('an upload that failed names the record that it leaves, whatever the failure', async () => {
  const failure = await creatingRecord((onId) => {
    onId('vid_1');
    return Promise.reject(new RejectedError('422'));
  }).catch((thrown: unknown) => thrown);
  for (const command of ['get', 'delete']) expect(sentence(failure)).toContain(`\`dropcast videos ${command} vid_1\``);
  expect(sentence(failure)).toMatch(/^422; /);
});
