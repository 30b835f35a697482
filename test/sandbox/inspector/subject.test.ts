import { expect, test } from 'vitest';
import { operationOf } from '../../../packages/sandbox/src/http/operations.ts';
import { subjectOf } from '../../../packages/sandbox/src/inspector/subject.ts';

function subject(request: string, requestBody?: unknown, answerBody?: unknown) {
  const [method = '', target = ''] = request.split(' ');
  const [path = '', query = ''] = target.split('?');
  const operation = operationOf(method, path);
  return subjectOf({ operation, path, query, requestBody: () => requestBody, answerBody: () => answerBody });
}

const NONE = { videoId: null, channelId: null, feedId: null };

test.each([
  ['GET /v1/videos/vid_1', { videoId: 'vid_1' }],
  ['PUT /uploads/vid_1/[token]', { videoId: 'vid_1' }],
  ['GET /embed/vid_1', { videoId: 'vid_1' }],
  ['GET /cdn/videos/vid_1.mp4', { videoId: 'vid_1' }],
  ['GET /cdn/thumbnails/vid_1.jpg', { videoId: 'vid_1' }],
  ['GET /v1/analytics/videos?video_id=vid_1&channel_id=ch_1', { videoId: 'vid_1', channelId: 'ch_1' }],
  ['PATCH /v1/channels/ch_1', { channelId: 'ch_1' }],
  ['GET /v1/videos?channel_id=ch_1', { channelId: 'ch_1' }],
  ['POST /v1/feeds/feed_1/publish', { feedId: 'feed_1' }],
  ['GET /feeds/feed_1.xml', { feedId: 'feed_1' }],
  ['GET /v1/videos', {}],
  ['GET /', {}],
  ['GET ', {}],
])('%s is about %j', (request, about) => {
  expect(subject(request)).toEqual({ ...NONE, ...about });
});

test('a created video is the one in the answer, in the channel of the request', () => {
  expect(subject('POST /v1/videos', { channel_id: 'ch_1' }, { id: 'vid_1' })).toEqual({
    videoId: 'vid_1',
    channelId: 'ch_1',
    feedId: null,
  });
});

test('the channel of a video is in its answer', () => {
  expect(subject('GET /v1/videos/vid_1', undefined, { data: { channel_id: 'ch_1' } })).toEqual({
    videoId: 'vid_1',
    channelId: 'ch_1',
    feedId: null,
  });
});

test.each([null, 1, 'x', [], { id: 1 }, { data: null }])('the body %j says nothing', (body) => {
  expect(subject('POST /v1/videos', body, body)).toEqual(NONE);
});
