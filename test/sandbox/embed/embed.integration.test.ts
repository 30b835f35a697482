import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, type Answer, type RunningSandbox } from '../running-sandbox.ts';

let service: RunningSandbox;
let video: string;
let other: string;
beforeAll(async () => {
  service = await runSandbox();
  video = (await service.upload('clip.mp4', { title: 'A clip & more' })).id;
  other = (await service.upload('clip.mp4')).id;
});
afterAll(() => service.sandbox.close());

const address = (path: string) => new URL(path, service.sandbox.baseUrl);

async function show(id: string, headers: Record<string, string> = {}) {
  const response = await fetch(address(`/embed/${id}`), { headers });
  return { status: response.status, headers: response.headers, page: await response.text() };
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function post(path: string, body: unknown = {}, headers: Record<string, string> = JSON_TYPE): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(address(path), { method: 'POST', body: text, headers });
  const answer = await response.text();
  return { status: response.status, headers: response.headers, body: answer === '' ? undefined : JSON.parse(answer) };
}

async function open(id: string, headers: Record<string, string> = {}): Promise<string> {
  const { status, body } = await post(`/embed/${id}/plays`, {}, { ...JSON_TYPE, ...headers });
  expect(status).toBe(201);
  return body.play_id;
}

const figures = async (id: string) => (await service.call('GET', `/analytics/videos?video_id=${id}`)).body.data;

describe('the page', () => {
  test('is a player of the media file, with the title as text', async () => {
    const { status, headers, page } = await show(video);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/html/);
    expect(page).toContain('<title>A clip &amp; more</title>');
    expect(page).toMatch(new RegExp(`<video src="http://127\\.0\\.0\\.1:\\d+/cdn/videos/${video}\\.mp4\\?via=embed"`));
    expect(page).toMatch(/ controls .* playsinline poster="http[^"]+"/s);
  });

  test('may be in a frame on any site, and loads nothing from elsewhere', async () => {
    const { headers, page } = await show(video);
    expect(headers.get('x-frame-options')).toBeNull();
    const policy = headers.get('content-security-policy') ?? '';
    const origin = address('/').origin;
    const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1];
    expect(policy.replaceAll(String(nonce), 'N')).toBe(
      `default-src 'none'; script-src 'nonce-N'; style-src 'nonce-N'; img-src 'self' data: ${origin}; ` +
        `media-src 'self' ${origin}; connect-src 'self'; base-uri 'none'; form-action 'none'`,
    );
    expect(page).toContain(`<script nonce="${nonce}">`);
    expect((await show(video)).page).not.toContain(String(nonce));
    expect(page.match(/(?:src|href|poster)="https?:\/\/[^/"]+/g)?.filter((link) => !link.includes(origin))).toEqual([]);
  });

  test('sound alone gets an audio player', async () => {
    const { id } = await service.upload('interview.mp3');
    const { page } = await show(id);
    expect(page).toMatch(/<audio src="[^"]+\.mp3\?via=embed"/);
    expect(page).not.toContain('<video');
  });

  test('answers HEAD as GET', async () => {
    const response = await fetch(address(`/embed/${video}`), { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect((await fetch(address('/embed/vid_nobody'), { method: 'HEAD' })).status).toBe(404);
  });

  test.each([
    ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
    ['"><script>alert(1)</script>', '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;'],
    ["' onplay='alert(1)", '&#39; onplay=&#39;alert(1)'],
    ['</title><h1>', '&lt;/title&gt;&lt;h1&gt;'],
    ['a\u0007\u001b[31m\r\nb\u0085', 'a  [31m  b '],
  ])('the title %j is text', async (title, escaped) => {
    const { id } = await service.upload('clip.mp4', { title });
    const { page } = await show(id);
    expect(page).toContain(`<title>${escaped}</title>`);
    expect(page).toContain(`aria-label="${escaped}"`);
    expect(page).not.toContain(title);
  });

  test('takes the settings of the channel that it knows', async () => {
    const settings = { autoplay: true, muted: true, loop: true, accent_color: '#ff0080', evil: '"><script>' };
    await service.call('PATCH', '/channels/ch_main', { default_player_settings: settings });
    const { id } = await service.upload('clip.mp4', { channel_id: 'ch_main' });
    const { page } = await show(id);
    expect(page).toMatch(/controls preload="metadata" autoplay\s+muted loop/);
    expect(page).toContain('--accent: #ff0080;');
    expect(page).not.toContain('evil');
  });
});

describe('in the place of the player', () => {
  test('a video that is not ready says so, and polls', async () => {
    await using slow = await runSandbox({ processingMs: { min: 60_000, max: 60_000 } });
    const { id, upload_url } = await slow.create();
    const look = async () => {
      const response = await fetch(new URL(`/embed/${id}`, slow.sandbox.baseUrl));
      expect(response.status).toBe(200);
      return response.text();
    };
    expect(await look()).toContain('Not ready yet');
    await fetch(upload_url, { method: 'PUT', body: 'x'.repeat(1000) });
    const page = await look();
    expect(page).toContain('<noscript><meta http-equiv="refresh" content="5" /></noscript>');
    expect(page).not.toContain('<video');
  });

  test('a failed video shows that it could not be processed, without the reason', async () => {
    const { id } = await service.upload('truncated.mp4');
    const { status, page } = await show(id);
    expect(status).toBe(200);
    expect(page).toContain('could not be processed');
    expect(page).not.toContain('truncated');
    expect(page).not.toContain('refresh');
  });

  test.each([
    ['an unknown id', 'vid_nobody'],
    ['a path trick', '..%2fvideos'],
    ['a NUL', '%00'],
    ['half a character', '%e2%28'],
    ['a tag', '%3Cscript%3E'],
    ['a long id', 'x'.repeat(5000)],
  ])('%s is not found', async (_what, id) => {
    const { status, headers, page } = await show(id);
    expect(status).toBe(404);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page).toContain('Video not found');
    expect(page).not.toContain(id);
    expect(page).not.toContain('<script');
  });

  test('3 a deleted video is not found at once', async () => {
    const { id } = await service.upload('clip.mp4');
    expect((await show(id)).status).toBe(200);
    await service.call('DELETE', `/videos/${id}`);
    const { status, page } = await show(id);
    expect([status, page.includes('Video not found')]).toEqual([404, true]);
  });
});

describe('plays', () => {
  test('count, with the watched time as far as it is possible', async () => {
    await using fresh = await runSandbox();
    const { id } = await fresh.upload('clip.mp4');
    const at = (path: string) => new URL(path, fresh.sandbox.baseUrl);
    const send = (path: string, body: unknown) =>
      fetch(at(path), { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) });
    const opened = await send(`/embed/${id}/plays`, {});
    const { play_id: play } = (await opened.json()) as { play_id: string };
    expect((await send(`/embed/${id}/plays/${play}`, { watched_seconds: 0.5, ended: false })).status).toBe(204);
    const answer = await fresh.call('GET', `/analytics/videos?video_id=${id}`);
    expect(answer.body.data).toMatchObject({ views: 1, unique_viewers: 1, avg_watch_time_seconds: 0.5 });
  });

  test('impossible watch time is capped', async () => {
    const { id } = await service.upload('clip.mp4');
    const play = await open(id);
    await post(`/embed/${id}/plays/${play}`, { watched_seconds: 1e300, ended: true });
    const { avg_watch_time_seconds: watched, completion_rate: rate } = await figures(id);
    expect(watched).toBeGreaterThanOrEqual(1);
    expect(watched).toBeLessThan(3.6);
    expect(rate).toBe(0);
  });

  test('a cookie that only embed pages see distinguishes browsers', async () => {
    const { id } = await service.upload('clip.mp4');
    const cookies = await Promise.all([1, 2].map(async () => (await show(id)).headers.get('set-cookie') ?? ''));
    for (const cookie of cookies)
      expect(cookie).toMatch(/^dropcast_viewer=[\w-]{20}; Max-Age=7776000; Path=\/embed; HttpOnly; SameSite=Lax$/);
    const [ann = '', bob = ''] = cookies.map((cookie) => cookie.split(';', 1)[0] ?? '');
    for (const cookie of [ann, ann, bob]) await open(id, { cookie });
    expect(await figures(id)).toMatchObject({ views: 3, unique_viewers: 2 });
    expect((await show(id, { cookie: ann })).headers.get('set-cookie')).toBeNull();
  });

  test('without cookies the program is the viewer', async () => {
    const { id } = await service.upload('clip.mp4');
    for (const agent of ['one', 'one', 'two']) await open(id, { 'user-agent': agent });
    expect(await figures(id)).toMatchObject({ views: 3, unique_viewers: 2 });
  });

  test('ignores a foreign cookie', async () => {
    const { id } = await service.upload('clip.mp4');
    for (const cookie of ['dropcast_viewer=a', `dropcast_viewer=${'x'.repeat(3000)}`, 'dropcast_viewer=%00'])
      await open(id, { cookie, 'user-agent': 'one' });
    expect(await figures(id)).toMatchObject({ views: 3, unique_viewers: 1 });
  });

  test('an unknown play, a play of another video and an unknown video are 404', async () => {
    const play = await open(video);
    const report = { watched_seconds: 1, ended: false };
    for (const path of [
      `/embed/${other}/plays/${play}`,
      `/embed/${video}/plays/play_x`,
      `/embed/vid_nobody/plays/${play}`,
    ])
      expect(await post(path, report)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    expect((await post('/embed/vid_nobody/plays')).status).toBe(404);
  });

  test('3 an open player learns that its video was deleted', async () => {
    const { id } = await service.upload('clip.mp4');
    const play = await open(id);
    await service.call('DELETE', `/videos/${id}`);
    expect((await post(`/embed/${id}/plays/${play}`, { watched_seconds: 1, ended: false })).status).toBe(404);
    expect((await post(`/embed/${id}/plays`)).status).toBe(404);
  });

  test('a video that is not ready cannot be played', async () => {
    const { id } = await service.create();
    expect(await post(`/embed/${id}/plays`)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  });

  test.each([
    ['a form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['text, as any site may send it', '{}', { 'content-type': 'text/plain' }, 415],
    ['nothing', '', JSON_TYPE, 400],
    ['no JSON', '{', JSON_TYPE, 400],
    ['a list', '[]', JSON_TYPE, 422],
    ['unrequested fields', '{"viewer":"me"}', JSON_TYPE, 422],
    ['too much', `{"a":"${'x'.repeat(5000)}"}`, JSON_TYPE, 413],
  ])('opening a play with %s is refused', async (_what, body, headers, status) => {
    const answer = await post(`/embed/${video}/plays`, body, headers);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error: { code: expect.any(String), message: expect.any(String) } });
  });

  test.each([
    ['less than nothing', { watched_seconds: -1, ended: false }],
    ['a text', { watched_seconds: '1', ended: false }],
    ['no number', '{"watched_seconds":1e999,"ended":false}'],
    ['nothing at all', {}],
    ['no end', { watched_seconds: 1 }],
    ['an end that is neither', { watched_seconds: 1, ended: 1 }],
  ])('reporting %s is refused', async (_what, body) => {
    expect((await post(`/embed/${video}/plays/${await open(video)}`, body)).status).toBe(422);
  });

  test('refuses a long body without a length before all of it has arrived', async () => {
    const { port } = service.sandbox;
    const path = `/embed/${video}/plays`;
    const status = await new Promise((resolve, reject) => {
      const sending = request({ port, path, method: 'POST', headers: JSON_TYPE }, (response) => {
        resolve(response.statusCode);
        sending.destroy();
      });
      sending.on('error', reject);
      sending.write('{"a":"' + 'x'.repeat(100_000));
    });
    expect(status).toBe(413);
  });

  test.each([
    ['PUT', '', 'GET, HEAD, OPTIONS'],
    ['POST', '', 'GET, HEAD, OPTIONS'],
    ['GET', '/plays', 'POST, OPTIONS'],
    ['DELETE', '/plays/play_x', 'POST, OPTIONS'],
  ])('%s %s is not allowed', async (method, path, allow) => {
    const response = await fetch(address(`/embed/${video}${path}`), { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    expect(await response.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
  });
});
