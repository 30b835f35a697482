import { describe, expect, test } from 'vitest';

import { readError } from '../../../packages/client/src/transport/answer-body.ts';
import { createScrub, scrubAddresses } from '../../../packages/client/src/transport/scrub.ts';
import { readChannels } from '../../../packages/client/src/wire/channels.ts';
import { readFeeds, readPublished } from '../../../packages/client/src/wire/feeds.ts';
import { readCreated, readVideo, readVideoPage } from '../../../packages/client/src/wire/videos.ts';

describe('a video', () => {
  const bare = {
    id: 'vid_1',
    title: 'T',
    status: 'ready',
    duration: 12,
    created_at: '2026-11-20T12:00:00Z',
    thumbnail_url: 'https://cdn/x.jpg',
    embed_url: 'https://embed/x',
    surprise: { deep: true },
  };
  const read = {
    id: 'vid_1',
    title: 'T',
    status: 'ready',
    duration: 12,
    createdAt: '2026-11-20T12:00:00Z',
    thumbnailUrl: 'https://cdn/x.jpg',
    embedUrl: 'https://embed/x',
  };

  test('is read bare or in data, without the fields we do not know', () => {
    expect(readVideo(bare)).toEqual(read);
    expect(readVideo({ data: bare })).toEqual(read);
  });

  test('keeps a status word that we do not know', () => {
    expect(readVideo({ id: 'v', status: 'transcoding' })).toEqual({ id: 'v', status: 'transcoding' });
  });

  test.each(['Ready', 'READY', ' ready ', '\tReady\n'])('knows the status word %j, whatever its letters', (status) => {
    expect(readVideo({ id: 'v', status })?.status).toBe('ready');
    expect(readVideoPage({ page: 1, perPage: 25 })({ data: [{ id: 'v', status }] })?.videos[0]?.status).toBe('ready');
  });

  // 'Pending' taken for an unknown word would mean that the bytes have arrived.
  test.each(['Pending', ' PENDING '])('that was just created and says %j is pending', (status) => {
    expect(readCreated({ id: 'v', upload_url: 'u', status })?.status).toBe('pending');
    expect(readVideo({ id: 'v', status })?.status).toBe('pending');
  });

  test('has no status when the word is empty or white space', () => {
    expect(readVideo({ id: 'v', status: '  ' })).toBeUndefined();
    expect(readCreated({ id: 'v', upload_url: 'u', status: '  ' })?.status).toBe('pending');
  });

  test('turns a number id into a string, and takes a wrong optional field for absent', () => {
    expect(readVideo({ id: 17, status: 'ready', duration: 'long', tags: 'x', title: null })).toEqual({
      id: '17',
      status: 'ready',
    });
  });

  test.each([
    [{ error: { code: 'x', message: 'bad codec' } }, 'bad codec'],
    [{ error: 'bad codec' }, 'bad codec'],
    [{ failure_reason: 'bad codec' }, 'bad codec'],
    [{ status_message: 'bad codec' }, 'bad codec'],
    [{ error: { code: 'x' } }, undefined],
    [{ error: null }, undefined],
    [{ error: 5 }, undefined],
  ])('that failed says why, where %j', (extra, expected) => {
    expect(readVideo({ id: 'v', status: 'failed', ...extra })?.message).toBe(expected);
  });

  test.each([
    {},
    { id: 'v' },
    { id: '', status: 'ready' },
    { id: '..', status: 'ready' },
    { id: null, status: 'x' },
    [],
    null,
    'text',
    4,
  ])('is not made of %j', (json) => {
    expect(readVideo(json)).toBeUndefined();
  });

  // `length > 100` throws for such a length: an object cannot be compared.
  test('is read, or is not one, whatever stands where a text should', () => {
    const odd = { length: { toString: 'x', valueOf: 'x' } };
    const optional = { title: odd, embed_url: odd, error: odd, tags: odd };
    expect(readVideo({ id: 'v', status: 'ready', ...optional })).toEqual({ id: 'v', status: 'ready' });
    expect(readVideo({ id: 'v', status: odd })).toBeUndefined();
    expect(readVideo({ id: odd, status: 'ready' })).toBeUndefined();
    expect(readCreated({ id: 'v', upload_url: odd })).toBeUndefined();
    expect(readFeeds({ data: [{ id: 'f', type: odd, url: odd }] })).toMatchObject([{ id: 'f', type: '', url: '' }]);
  });
});

describe('a page of videos', () => {
  const asked = { page: 2, perPage: 100 };

  test('takes page, size and total from meta, otherwise from the request', () => {
    const data = [{ id: 'a', status: 'ready' }];
    const videos = [{ id: 'a', status: 'ready', title: '', createdAt: '', embedUrl: '' }];
    expect(readVideoPage(asked)({ data, meta: { page: 1, per_page: 25, total: 7 } })).toEqual({
      videos,
      page: 1,
      perPage: 25,
      total: 7,
      unreadable: 0,
    });
    expect(readVideoPage(asked)({ data })).toEqual({ videos, page: 2, perPage: 100, total: null, unreadable: 0 });
    expect(readVideoPage(asked)({ data, meta: { total: '7' } })).toEqual({
      videos,
      page: 2,
      perPage: 100,
      total: null,
      unreadable: 0,
    });
    expect(readVideoPage(asked)(data)).toEqual({ videos, page: 2, perPage: 100, total: null, unreadable: 0 });
  });

  test('skips an entry that is not one, and keeps the others', () => {
    expect(readVideoPage(asked)({ data: [null, { title: 'x' }, { id: 'b', status: 'ready' }] })?.videos).toEqual([
      { id: 'b', status: 'ready', title: '', createdAt: '', embedUrl: '' },
    ]);
  });

  test('claims nothing about what a list does not carry', () => {
    const [video] = readVideoPage(asked)({ data: [{ id: 'b', status: 'ready', tags: null }] })?.videos ?? [];
    expect(Object.keys(video ?? {})).toEqual(['title', 'createdAt', 'embedUrl', 'id', 'status']);
  });

  test.each([{ data: {} }, {}, 'x'])('is not made of %j', (json) => {
    expect(readVideoPage(asked)(json)).toBeUndefined();
  });
});

describe('other answers', () => {
  test('a created video may come without upload address and status', () => {
    expect(readCreated({ id: 'v', upload_url: 'https://u/1', status: 'pending' })).toEqual({
      id: 'v',
      uploadUrl: 'https://u/1',
      status: 'pending',
    });
    expect(readCreated({ data: { id: 'v' } })).toEqual({ id: 'v', uploadUrl: null, status: 'pending' });
    expect(readCreated({ id: 'v', upload_url: null })).toEqual({ id: 'v', uploadUrl: null, status: 'pending' });
    expect(readCreated({ id: 'v', upload_url: 4 })).toBeUndefined();
  });

  test('channels, feeds and publish results are read in our own words', () => {
    expect(readChannels({ data: [{ id: 'ch_1', name: 'N', slug: 'n', video_count: 3 }] })).toEqual([
      { id: 'ch_1', name: 'N', slug: 'n', videoCount: 3, createdAt: '' },
    ]);
    expect(
      readFeeds({
        data: [{ id: 'feed_1', type: 'mrss', channel_id: 'ch_1', url: 'https://f/x', last_published_at: 'T' }],
      }),
    ).toEqual([{ id: 'feed_1', name: '', type: 'mrss', channelId: 'ch_1', url: 'https://f/x', lastPublishedAt: 'T' }]);
    expect(
      readPublished('feed_1')({ feed_id: 'feed_1', status: 'published', published_at: 'T', video_count: 4 }),
    ).toEqual({
      feedId: 'feed_1',
      status: 'published',
      publishedAt: 'T',
      videoCount: 4,
    });
    expect(readPublished('feed_1')({ data: {} })).toEqual({ feedId: 'feed_1', status: 'published' });
    expect(readPublished('feed_1')({ status: ' Published' })).toEqual({ feedId: 'feed_1', status: 'published' });
  });
});

describe('an error answer', () => {
  test.each([
    [401, '{"error":{"code":"unauthorized","message":"no key"}}', { code: 'unauthorized', message: 'no key' }],
    [400, '{"error":"title is too long"}', { code: 'bad_request', message: 'title is too long' }],
    [422, '{"code":"invalid","message":"no"}', { code: 'invalid', message: 'no' }],
    [
      413,
      '<html><head><style>p{}</style></head><body><h1>413</h1> Request  too large</body></html>',
      { code: 'payload_too_large', message: '413 Request too large' },
    ],
    [502, '', { code: 'bad_gateway', message: '' }],
    [
      403,
      '{"error":{"code":403,"message":"m","errors":[{"reason":"quotaExceeded"}]}}',
      { code: 'quotaExceeded', message: 'm' },
    ],
    [403, '{"error":{"code":403,"message":"m","errors":7}}', { code: '403', message: 'm' }],
    [599, 'oops', { code: 'http_599', message: 'oops' }],
    [
      400,
      '{"error":{"code":"a\\nb","message":"line\\u001b[31m one\\nline two"}}',
      { code: 'a b', message: 'line [31m one line two' },
    ],
  ])('%i %s says %j', (status, body, expected) => {
    expect(readError(status, body, scrubAddresses)).toEqual(expected);
  });

  test('is cut to 200 characters', () => {
    expect(readError(500, 'x'.repeat(5000), scrubAddresses).message).toBe(`${'x'.repeat(200)}…`);
  });

  test('shows no half of a secret where it is cut', () => {
    const scrub = createScrub(['0123456789abcdef']);
    expect(readError(500, `${'x'.repeat(195)}0123456789abcdef`, scrub).message).toBe(`${'x'.repeat(195)}[secr…`);
  });

  test('built to be slow to read is read in linear time', () => {
    // Taking quadratic time, this would not end within the time of a test.
    for (const piece of ['<', '<script', '<script>', '<style >']) readError(500, piece.repeat(500_000), scrubAddresses);
  });
});
