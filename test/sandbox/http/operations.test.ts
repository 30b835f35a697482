import { expect, test } from 'vitest';
import { isOfApi, methodsAt, operationOf, withoutSecrets } from '../../../packages/sandbox/src/http/operations.ts';

test.each([
  ['GET', '/v1/videos', 'videos.list'],
  ['HEAD', '/v1/videos/vid_1', 'videos.get'],
  ['POST', '/v1/feeds/feed_news/publish', 'feeds.publish'],
  ['PUT', '/uploads/vid_1/token', 'uploads.put'],
  ['GET', '/uploads/vid_1/token', 'unknown'],
  ['GET', '/v1/videos/', 'unknown'],
  ['PUT', '/v1/videos', 'unknown'],
  ['GET', '/feeds/feed_main.xml', 'feeds.read'],
  ['HEAD', '/cdn/videos/vid_1.mp4', 'media.read'],
  ['GET', '/cdn/thumbnails/vid_1.jpg', 'thumbnails.read'],
  ['GET', '/cdn/artwork/ch_main.jpg', 'artwork.read'],
  ['GET', '/embed/vid_1', 'embed.show'],
  ['POST', '/embed/vid_1/plays', 'embed.play'],
  ['POST', '/embed/vid_1/plays/play_1', 'embed.report'],
  ['GET', '/openapi.yaml', 'contract.read'],
])('%s %s is %s', (method, path, operation) => {
  expect(operationOf(method, path)).toBe(operation);
});

test('only the API and uploads can be hit by faults', () => {
  expect(['videos.list', 'uploads.put', 'feeds.read', 'embed.play', 'unknown'].filter(isOfApi)).toEqual([
    'videos.list',
    'uploads.put',
  ]);
});

test('a path knows its methods', () => {
  expect(methodsAt('/v1/videos/x')).toEqual(['GET', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
  expect(methodsAt('/v1/feeds/x/publish')).toEqual(['POST', 'OPTIONS']);
  expect(methodsAt('/v2/videos')).toEqual([]);
});

test('never records the token of an upload address', () => {
  expect(withoutSecrets('/uploads/vid_1/secret')).toBe('/uploads/vid_1/[token]');
  expect(withoutSecrets('/uploads/vid_1/secret/more')).toBe('/uploads/vid_1/[token]');
  expect(withoutSecrets('/v1/videos/vid_1')).toBe('/v1/videos/vid_1');
});
