import { afterAll, beforeAll, expect, test } from 'vitest';
import { admin } from '../admin/admin-side.ts';
import { runSandbox, until, type RunningSandbox } from '../running-sandbox.ts';
import { Visitor } from './visitor.ts';

let service: RunningSandbox;
let visitor: Visitor;

beforeAll(async () => {
  service = await runSandbox({ requestsPerHour: 1e6 });
  visitor = await Visitor.enter(service.sandbox);
});
afterAll(() => service.sandbox.close());

/** Where a form has led to. */
const target = (answer: { headers: Headers }) => answer.headers.get('location') ?? '';

test('a video shows its fields, its media, its history and the feeds that it is in', async () => {
  const { id } = await service.upload('clip.mp4', { title: 'Tides', description: 'High\nand low', tags: ['sea'] });
  await visitor.post('/_page/feeds/feed_news/publish');
  const { html } = await visitor.get(`/_page/videos/${id}`);
  for (const fact of [
    'Tides',
    'High\nand low',
    'sea',
    'AVC',
    '320 × 180',
    'video/mp4',
    '65.2 kB',
    '0 views',
    'feed_news',
  ])
    expect(html).toContain(fact);
  expect(html.match(/<strong>(Created|Uploaded|Ready)<\/strong>\s*<time/g)).toHaveLength(3);
  expect(html).toMatch(new RegExp(`<iframe\\s+class="player"\\s+src="/embed/${id}"`));
});

test('a failed video shows its error', async () => {
  const { id } = await service.upload('truncated.mp4');
  const { html } = await visitor.get(`/_page/videos/${id}`);
  expect(html).toContain('truncated_file');
  expect(html).not.toContain('<iframe');
});

test('a pending video can be let fail, one that has ended cannot', async () => {
  const { id } = await service.create();
  expect(target(await visitor.post(`/_page/videos/${id}/fail`))).toBe(`/_page/videos/${id}`);
  expect((await service.call('GET', `/videos/${id}`)).body.data).toMatchObject({
    status: 'failed',
    error: { code: 'failed_by_hand' },
  });
  const again = await visitor.post(`/_page/videos/${id}/fail`);
  expect(again.status).toBe(409);
  expect(again.html).toContain('already');
});

test('the list is in pages of 50, and can be narrowed by channel and status', async () => {
  await using many = await runSandbox();
  const visitor = await Visitor.enter(many.sandbox);
  for (let index = 1; index <= 60; index += 1)
    await many.create({ title: `Number ${index};`, channel_id: index <= 3 ? 'ch_main' : 'ch_news' });
  const rowsAt = async (query: string) =>
    [...(await visitor.get(`/_page/videos${query}`)).html.matchAll(/Number (\d+);/g)].map(([, number]) =>
      Number(number),
    );
  expect(await rowsAt('')).toEqual(Array.from({ length: 50 }, (_, index) => 60 - index));
  expect(await rowsAt('?channel=&status=&page=2')).toEqual(Array.from({ length: 10 }, (_, index) => 10 - index));
  expect(await rowsAt('?channel=ch_main')).toEqual([3, 2, 1]);
  expect(await rowsAt('?status=ready')).toEqual([]);
  expect((await visitor.get('/_page/videos')).html).toContain('Page 1 of 2');
});

test.each([
  '/_page/videos?page=0',
  '/_page/videos?status=odd',
  '/_page/videos?x=1',
  '/_page/analytics?days=8',
  '/_page/requests?status=1',
])('%s is refused in a sentence', async (path) => {
  const { status, html } = await visitor.get(path);
  expect(status).toBe(422);
  expect(html).toMatch(/<h1>[^<]+<\/h1>\s*<p>[^<]+\.<\/p>/);
});

test.each([
  '/_page/videos/vid_nobody',
  '/_page/feeds/feed_none',
  '/_page/nothing',
  '/_page/videos/..%2f..%2fetc',
  '/_page/videos/%3Cscript%3E',
])('%s is a page that says so', async (path) => {
  const { status, html } = await visitor.get(path);
  expect(status).toBe(404);
  expect(html).toContain('<h1>Not found</h1>');
  expect(html).not.toContain('<script>');
});

test.each([
  ['/_page/keys', { name: '' }, 422],
  ['/_page/keys/key_999/revoke', {}, 404],
  ['/_page/webhooks', { url: 'ftp://x' }, 422],
  ['/_page/faults/replace', { rules: '[{"kind": "delay", "ms": "soon"}]' }, 422],
  ['/_page/faults/replace', {}, 400],
  ['/_page/faults/presets/odd', {}, 404],
  ['/_page/clock/advance', { by: 'a year' }, 422],
  ['/_page/limit', { requests_per_hour: '0' }, 422],
  ['/_page/limit', {}, 422],
  ['/_page/seed', { videos: '5000', days: '1' }, 422],
  ['/_page/feeds/none/publish', {}, 404],
  ['/_page/keys', { name: 'x'.repeat(201) }, 422],
])('%s with %.60j is refused in a sentence', async (path, fields, status) => {
  const answer = await visitor.post(path, fields);
  expect(answer.status).toBe(status);
  expect(answer.html).toMatch(/<p>[^<]{10,300}\.<\/p>/);
});

test('a form with a mistake is not called a fault of the sandbox, and can be corrected', async () => {
  const { html } = await visitor.post('/_page/clock/advance', { by: 'soon' });
  expect(html).toContain('<h1>Not accepted</h1>');
  expect(html).toContain('Go back in the browser to correct the form.');
  expect((await visitor.get('/_page/analytics?days=8')).html).not.toContain('correct the form');
  const { html: missing } = await visitor.post('/_page/keys/key_999/revoke');
  expect(missing).toContain('<h1>Not found</h1>');
  expect(missing).not.toContain('correct the form');
});

test('a form takes as much as the admin side does, whatever the language, and refuses more in a sentence', async () => {
  await using other = await runSandbox();
  const visitor = await Visitor.enter(other.sandbox);
  const description = '\u8a9e'.repeat(10_000); // nine bytes each in a form
  expect(target(await visitor.post('/_page/channels', { name: 'Long', description }))).toBe('/_page/channels');
  const rules = Array.from({ length: 1000 }, () => ({ kind: 'status', status: 503, message: 'Back in a minute.' }));
  expect((await admin(other, 'PUT /faults', rules)).status).toBe(200);
  const [, shown = ''] =
    /<textarea[^>]*name="rules"[^>]*>([^<]*)/.exec((await visitor.get('/_page/faults')).html) ?? [];
  const replaced = await visitor.post('/_page/faults/replace', { rules: shown.replaceAll('&quot;', '"') });
  expect([replaced.status, target(replaced)]).toEqual([303, '/_page/faults']);
  const refused = await visitor.post('/_page/keys', { name: 'x'.repeat(9_000_000) });
  expect(refused.status).toBe(413);
  expect(refused.html).toMatch(/<p>A form may have at most 8 MiB\.<\/p>/);
});

test('no form accepts harmful input', async () => {
  for (const body of ['%', '&&&===', 'name=%00', `name=${'%F0%9F'.repeat(10)}`])
    expect([303, 422]).toContain((await visitor.post('/_page/keys', body)).status);
  const multipart = { 'sec-fetch-site': 'same-origin', 'content-type': 'multipart/form-data; boundary=x' };
  expect((await visitor.post('/_page/keys', '--x', multipart)).status).toBe(422);
});

test('a new key is shown once, works, and is refused when it is revoked', async () => {
  const created = target(await visitor.post('/_page/keys', { name: 'A robot', read_only: 'true' }));
  const { html } = await visitor.get(created);
  const [key = ''] = /sk_sandbox_[\w-]{32}/.exec(html) ?? [];
  const headers = { authorization: `Bearer ${key}` };
  expect((await service.call('GET', '/videos', undefined, headers)).status).toBe(200);
  expect((await service.call('POST', '/videos', { title: 'x' }, headers)).status).toBe(403);
  expect((await visitor.get(created)).html).not.toContain(key);
  const { id } = (await admin(service, 'GET /keys')).body.data.at(-1);
  await visitor.post(`/_page/keys/${id}/revoke`);
  expect((await service.call('GET', '/videos', undefined, headers)).status).toBe(401);
});

test('a webhook is registered, its secret shown once, and forgotten', async () => {
  const created = target(
    await visitor.post('/_page/webhooks', { url: 'http://127.0.0.1:9/hook', events: 'video.ready' }),
  );
  expect((await visitor.get(created)).html).toMatch(/whsec_[\w+/=]{20}/);
  expect((await visitor.get('/_page/webhooks')).html).not.toContain('whsec_');
  const [webhook] = (await admin(service, 'GET /webhooks')).body.data;
  expect(webhook).toMatchObject({ url: 'http://127.0.0.1:9/hook', events: ['video.ready'] });
  await visitor.post(`/_page/webhooks/${webhook.id}/delete`);
  expect((await admin(service, 'GET /webhooks')).body.data).toEqual([]);
});

test('a switch turns a fault on once, counts what it hits, and turns it off', async () => {
  await visitor.post('/_page/faults/presets/server-error?on=true');
  await visitor.post('/_page/faults/presets/server-error?on=true');
  expect((await admin(service, 'GET /faults')).body.data).toHaveLength(1);
  expect((await service.call('GET', '/videos')).status).toBe(500);
  expect((await visitor.get('/_page/faults')).html).toMatch(/hit 1 of 1 call, 1[45] min( \d+ s)? left/);
  expect((await visitor.get('/_page/requests?fault=hit')).html).toContain('>500<');
  await visitor.post('/_page/faults/presets/server-error?on=false');
  expect((await service.call('GET', '/videos')).status).toBe(200);
});

test('every switch is a fault that the service takes', async () => {
  const names = [...(await visitor.get('/_page/faults')).html.matchAll(/presets\/([\w-]+)\?on=true/g)].map(
    ([, name]) => name,
  );
  expect(names.length).toBeGreaterThan(8);
  for (const name of names) expect((await visitor.post(`/_page/faults/presets/${name}?on=true`)).status).toBe(303);
  expect((await admin(service, 'GET /faults')).body.data).toHaveLength(names.length);
  expect((await visitor.get('/')).html).toContain(`${names.length} faults`);
  await visitor.post('/_page/faults/clear');
  expect((await admin(service, 'GET /faults')).body.data).toEqual([]);
});

test('any other fault is planned as JSON, and can be removed alone', async () => {
  const rules = [{ kind: 'delay', ms: 1, operation: 'channels.list', times: 1 }];
  await visitor.post('/_page/faults/replace', { rules: JSON.stringify(rules) });
  const [fault] = (await admin(service, 'GET /faults')).body.data;
  expect(fault).toMatchObject({ kind: 'delay', ms: 1, operation: 'channels.list', times: 1 });
  await visitor.post(`/_page/faults/${fault.id}/remove`);
  expect((await admin(service, 'GET /faults')).body.data).toEqual([]);
});

test('clock, limit, samples and reset follow their forms', async () => {
  await using other = await runSandbox();
  const visitor = await Visitor.enter(other.sandbox);
  const state = async () => (await admin(other, 'GET /state')).body.data;
  await visitor.post('/_page/clock?frozen=true');
  const before = (await state()).clock.now;
  await visitor.post('/_page/clock/advance', { by: '1d' });
  await visitor.post('/_page/limit', { requests_per_hour: '7' });
  expect(target(await visitor.post('/_page/seed', { videos: '2', days: '3' }))).toBe('/');
  const after = await state();
  expect(after).toMatchObject({
    clock: { frozen: true },
    limits: { requests_per_hour: 7 },
    counts: { videos: { total: 2 } },
  });
  expect(Date.parse(after.clock.now) - Date.parse(before)).toBe(86_400_000);
  expect((await visitor.get('/')).html).toContain('Clock stopped');
  await visitor.post('/_page/clock?frozen=false');
  expect((await state()).clock.frozen).toBe(false);
  await visitor.post('/_page/reset');
  expect(await state()).toMatchObject({ limits: { requests_per_hour: 1000 }, counts: { videos: { total: 0 } } });
});

test('the journal can be narrowed, and leaves out the files that the page itself shows', async () => {
  await visitor.post('/_page/requests/clear');
  const { id } = await service.upload('clip.mp4');
  await service.call('GET', '/videos/vid_nobody');
  await fetch(new URL(`/cdn/videos/${id}.mp4`, service.sandbox.baseUrl)).then((response) => response.arrayBuffer());
  await until(async () => ((await visitor.get('/_page/requests')).html.includes('vid_nobody') ? true : undefined));
  const all = (await visitor.get('/_page/requests')).html;
  expect(all).toContain('[token]');
  expect(all).not.toContain('/cdn/');
  expect((await visitor.get('/_page/requests?files=too')).html).toContain(`/cdn/videos/${id}.mp4`);
  const missing = (await visitor.get('/_page/requests?status=4xx&operation=videos.get&key=key_1')).html;
  expect(missing).toContain('vid_nobody');
  expect(missing).not.toContain('uploads.put</td>');
});

test('a feed shows its items and its document', async () => {
  const { id } = await service.upload('clip.mp4', { title: 'A & B <i>', channel_id: 'ch_main' });
  expect((await visitor.get('/_page/feeds/feed_main')).html).toContain('0 items');
  expect(target(await visitor.post('/_page/feeds/feed_main/publish'))).toBe('/_page/feeds/feed_main');
  const { html } = await visitor.get('/_page/feeds/feed_main');
  for (const part of ['1 item', 'A &amp; B &lt;i&gt;', `/_page/videos/${id}`, '0:04', '&lt;rss version='])
    expect(html).toContain(part);
});

test('analytics follow period and channel', async () => {
  await admin(service, 'POST /seed', { videos: 3, days: 60 });
  const viewsIn = async (query: string) =>
    Number(
      /<strong>([\d,]+)<\/strong>\s*<span class="name">views</
        .exec((await visitor.get(`/_page/analytics${query}`)).html)?.[1]
        ?.replace(',', ''),
    );
  const [week, quarter, news] = [
    await viewsIn('?days=7'),
    await viewsIn('?days=90'),
    await viewsIn('?days=90&channel=ch_news'),
  ];
  expect(week).toBeGreaterThan(0);
  expect(quarter).toBeGreaterThan(week);
  expect(news).toBeLessThan(quarter);
  const { body } = await service.call('GET', '/analytics/overview');
  expect(await viewsIn('')).toBe(body.data.total_views);
});

test('without demo data, empty views say what to do', async () => {
  await using bare = await runSandbox({ seedData: 'none' });
  const visitor = await Visitor.enter(bare.sandbox);
  expect((await visitor.get('/')).html).toContain('dropcast videos upload');
  expect((await visitor.get('/_page/channels')).html).toContain('no channel');
  expect((await visitor.get('/_page/feeds')).html).toContain('no feed');
  expect((await visitor.get('/_page/analytics')).html).toContain('No views');
});
