import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSample, put, runSandbox, type RunningSandbox } from './running-sandbox.ts';

let service: RunningSandbox;
beforeAll(async () => {
  service = await runSandbox();
});
afterAll(() => service.sandbox.close());

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('POST /videos (4.1)', () => {
  test('4.1 answers a create with the bare id, upload_url and status pending', async () => {
    const answer = await service.call('POST', '/videos', { title: 'A clip', channel_id: 'ch_main', tags: ['a', 'b'] });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body).toSorted()).toEqual(['id', 'status', 'upload_url']);
    expect(answer.body).toMatchObject({ id: expect.stringMatching(/^vid_[0-9a-z]{16}$/), status: 'pending' });
    expect(new URL(answer.body.upload_url).origin).toBe(service.sandbox.uploadOrigin);
  });

  test('a video without channel_id goes to the first channel', async () => {
    const { body } = await service.call('POST', '/videos', { title: 'Nowhere' });
    expect((await service.call('GET', `/videos/${body.id}`)).body.data.channel_id).toBe('ch_main');
  });

  test.each([
    ['no title', {}],
    ['an empty title', { title: '  ' }],
    ['a title that is a number', { title: 5 }],
    ['a title that is null', { title: null }],
    ['a title with NUL', { title: 'a\0b' }],
    ['a title with half a surrogate pair', { title: 'a\ud800' }],
    ['a title that is too long', { title: 'x'.repeat(501) }],
    ['tags that are a string', { title: 'x', tags: 'a,b' }],
    ['tags that are not strings', { title: 'x', tags: [1] }],
    ['an unknown channel', { title: 'x', channel_id: 'ch_nobody' }],
    ['an unknown field', { title: 'x', chanel_id: 'ch_main' }],
    ['a field that is read-only', { title: 'x', status: 'ready' }],
    ['a source_url that is no address', { title: 'x', source_url: 'clip.mp4' }],
    ['a source_url of another scheme', { title: 'x', source_url: 'file:///etc/passwd' }],
    ['a source_url with a password', { title: 'x', source_url: 'http://u:p@127.0.0.1/x' }],
    ['an array', [{ title: 'x' }]],
    ['null', 'null'],
  ])('refuses %s with 422 invalid_request', async (_what, body) => {
    const answer = await service.call('POST', '/videos', body);
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'invalid_request' } } });
    expect(answer.body.error.message).not.toBe('');
  });

  test('names the unknown field in the message', async () => {
    const answer = await service.call('POST', '/videos', { title: 'x', chanel_id: 'ch_main' });
    expect(answer.body.error.message).toContain('"chanel_id"');
  });
});

describe('GET /videos/:id (4.1)', () => {
  test('4.1 returns one video in data, with all fields of 2.1 but upload_url', async () => {
    const fields = { title: 'T', description: 'D', channel_id: 'ch_podcast', tags: ['x', 'y'] };
    const { id } = await service.create(fields);
    const answer = await service.call('GET', `/videos/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      data: {
        ...fields,
        id,
        status: 'pending',
        duration: null,
        created_at: expect.stringMatching(ISO_TIME),
        thumbnail_url: null,
        embed_url: expect.stringContaining(id),
        source_url: null,
      },
    });
  });

  test('2.1 a ready video has its duration in whole seconds, a thumbnail and an embed address', async () => {
    const video = await service.upload('clip.mp4');
    expect(video).toMatchObject({ status: 'ready', duration: 4 });
    expect(video.thumbnail_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/.*vid_/);
  });

  test('an unknown video is 404 not_found', async () => {
    expect(await service.call('GET', '/videos/vid_nothere')).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
  });
});

describe('PATCH /videos/:id (4.1)', () => {
  test('4.1 changes title, description and tags, each on its own', async () => {
    const { id } = await service.create({ description: 'old', tags: ['old'] });
    const first = await service.call('PATCH', `/videos/${id}`, { title: 'new' });
    expect(first).toMatchObject({ status: 200, body: { data: { title: 'new', description: 'old', tags: ['old'] } } });
    await service.call('PATCH', `/videos/${id}`, { description: '', tags: [] });
    expect((await service.call('GET', `/videos/${id}`)).body.data).toMatchObject({
      title: 'new',
      description: '',
      tags: [],
    });
  });

  test('an empty object changes nothing', async () => {
    const { id } = await service.create();
    expect(await service.call('PATCH', `/videos/${id}`, {})).toMatchObject({
      status: 200,
      body: { data: { title: 'A clip' } },
    });
  });

  test('fields that only a create may set are refused', async () => {
    const { id } = await service.create();
    expect((await service.call('PATCH', `/videos/${id}`, { channel_id: 'ch_main' })).status).toBe(422);
    expect((await service.call('PATCH', '/videos/vid_nothere', { title: 'x' })).status).toBe(404);
  });

  test('changes of different fields at the same time are all kept', async () => {
    const { id } = await service.create();
    await Promise.all([
      service.call('PATCH', `/videos/${id}`, { title: 'T2' }),
      service.call('PATCH', `/videos/${id}`, { description: 'D2' }),
      service.call('PATCH', `/videos/${id}`, { tags: ['t2'] }),
    ]);
    expect((await service.call('GET', `/videos/${id}`)).body.data).toMatchObject({
      title: 'T2',
      description: 'D2',
      tags: ['t2'],
    });
  });
});

describe('DELETE /videos/:id (3, 4.1)', () => {
  test('4.1 removes the video and its file; a second delete is 404', async () => {
    const { id } = await service.upload('interview.mp3');
    expect(await service.call('DELETE', `/videos/${id}`)).toMatchObject({ status: 204, body: undefined });
    expect((await service.call('GET', `/videos/${id}`)).status).toBe(404);
    expect((await service.call('DELETE', `/videos/${id}`)).status).toBe(404);
    expect(service.sandbox.files().map((file) => file.videoId)).not.toContain(id);
  });

  test('the upload address of a deleted video is gone', async () => {
    const { id, upload_url } = await service.create();
    await service.call('DELETE', `/videos/${id}`);
    expect(await put(upload_url, await readSample('clip.mp4'))).toMatchObject({
      status: 410,
      body: { error: { code: 'gone' } },
    });
  });
});
