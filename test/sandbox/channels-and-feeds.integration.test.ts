import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, type RunningSandbox } from './running-sandbox.ts';

let service: RunningSandbox;
beforeAll(async () => {
  service = await runSandbox();
});
afterAll(() => service.sandbox.close());

describe('channels (4.2)', () => {
  test('4.2 lists all channels with id, name, slug, video_count and created_at', async () => {
    const { body } = await service.call('GET', '/channels');
    expect(Object.keys(body)).toEqual(['data']);
    expect(body.data.map((channel: { id: string }) => channel.id)).toEqual(['ch_main', 'ch_news', 'ch_podcast']);
    expect(body.data[1]).toEqual({
      id: 'ch_news',
      name: 'News',
      slug: 'news',
      video_count: 0,
      created_at: expect.any(String),
    });
  });

  test('4.2 changes name, description and default_player_settings', async () => {
    const settings = { autoplay: true, colors: { accent: '#f00' } };
    const first = await service.call('PATCH', '/channels/ch_main', {
      name: 'First',
      description: 'D',
      default_player_settings: settings,
    });
    expect(first).toMatchObject({
      status: 200,
      body: { data: { name: 'First', description: 'D', default_player_settings: settings } },
    });
    const second = await service.call('PATCH', '/channels/ch_main', { description: 'E' });
    expect(second.body.data).toMatchObject({
      name: 'First',
      slug: 'main',
      description: 'E',
      default_player_settings: settings,
    });
  });

  test.each([
    ['an unknown field', { slug: 'x' }, 422],
    ['settings that are an array', { default_player_settings: [] }, 422],
    [
      'settings that are nested without end',
      `{"default_player_settings":{"a":${'['.repeat(5e4)}${']'.repeat(5e4)}}}`,
      422,
    ],
    ['an empty name', { name: '' }, 422],
  ])('refuses %s', async (_what, body, status) => {
    expect((await service.call('PATCH', '/channels/ch_main', body)).status).toBe(status);
  });

  test('an unknown channel is 404', async () => {
    expect((await service.call('PATCH', '/channels/ch_nobody', { name: 'x' })).status).toBe(404);
  });
});

describe('feeds (4.3)', () => {
  test('4.3 lists all feeds with their channel, address and no publish yet', async () => {
    const { body } = await service.call('GET', '/feeds');
    expect(body.data.map((feed: { id: string; type: string }) => [feed.id, feed.type])).toEqual([
      ['feed_news', 'mrss'],
      ['feed_main', 'mrss'],
      ['feed_podcast', 'podcast'],
      ['feed_tv', 'ctv'],
    ]);
    const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/feeds\//);
    expect(body.data[0]).toEqual({
      id: 'feed_news',
      name: 'News',
      type: 'mrss',
      channel_id: 'ch_news',
      url,
      last_published_at: null,
    });
  });

  test('4.3 a publish answers the bare result, and last_published_at reflects it', async () => {
    await service.upload('clip.mp4', { channel_id: 'ch_news' });
    await service.upload('truncated.mp4', { channel_id: 'ch_news' });
    await service.upload('clip.mp4', { channel_id: 'ch_podcast' });
    await service.create({ channel_id: 'ch_news' });
    const { status, body } = await service.call('POST', '/feeds/feed_news/publish');
    expect(status).toBe(200);
    expect(body).toEqual({
      feed_id: 'feed_news',
      status: 'published',
      published_at: expect.any(String),
      video_count: 1,
    });
    const feeds = (await service.call('GET', '/feeds')).body.data;
    expect(feeds[0].last_published_at).toBe(body.published_at);
    expect(feeds[1].last_published_at).toBeNull();
  });

  test('4.3 a publish takes no body; an empty object is let pass', async () => {
    expect((await service.call('POST', '/feeds/feed_news/publish', {})).status).toBe(200);
    expect((await service.call('POST', '/feeds/feed_news/publish', { now: true })).status).toBe(422);
    expect((await service.call('POST', '/feeds/feed_nobody/publish')).status).toBe(404);
  });
});
