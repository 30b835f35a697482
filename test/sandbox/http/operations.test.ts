import { expect, test } from 'vitest';
import { methodsAt, operationOf, withoutSecrets } from '../../../src/sandbox/http/operations.ts';

test.each([
  ['GET', '/v1/videos', 'videos.list'],
  ['HEAD', '/v1/videos/vid_1', 'videos.get'],
  ['POST', '/v1/feeds/feed_news/publish', 'feeds.publish'],
  ['PUT', '/uploads/vid_1/token', 'uploads.put'],
  ['GET', '/uploads/vid_1/token', 'unknown'],
  ['GET', '/v1/videos/', 'unknown'],
  ['PUT', '/v1/videos', 'unknown'],
])('%s %s is %s', (method, path, operation) => {
  expect(operationOf(method, path)).toBe(operation);
});

test('a path knows its methods', () => {
  expect(methodsAt('/v1/videos/x')).toEqual(['GET', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
  expect(methodsAt('/v1/feeds/x/publish')).toEqual(['POST', 'OPTIONS']);
  expect(methodsAt('/v2/videos')).toEqual([]);
});

test('the token of an upload address is not written down, whatever follows it', () => {
  expect(withoutSecrets('/uploads/vid_1/secret')).toBe('/uploads/vid_1/[token]');
  expect(withoutSecrets('/uploads/vid_1/secret/more')).toBe('/uploads/vid_1/[token]');
  expect(withoutSecrets('/v1/videos/vid_1')).toBe('/v1/videos/vid_1');
});
