import { afterAll, beforeAll, expect, test } from 'vitest';
import { admin } from '../admin/admin-side.ts';
import { runSandbox, until, type RunningSandbox } from '../running-sandbox.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { Visitor } from './visitor.ts';

let service: RunningSandbox;
let visitor: Visitor;

beforeAll(async () => {
  service = await runSandbox({ requestsPerHour: 1e6 });
  visitor = await Visitor.enter(service.sandbox);
});
afterAll(() => service.sandbox.close());

/** What can be reached, and where on the page: a part of a view, by its address. */
const REACHED: Readonly<Record<string, readonly [view: string, part: RegExp]>> = {
  'GET /state': ['/_page/controls', /href="\/_sandbox\/state"/],
  'POST /reset': ['/_page/controls', /action="\/_page\/reset"/],
  'POST /seed': ['/_page/controls', /action="\/_page\/seed"/],
  'GET /export': ['/_page/controls', /href="\/_sandbox\/export\?media=true"/],
  'POST /import': ['/_page/controls', /action="\/_page\/import"/],
  'GET /profile': ['/_page/controls', /href="\/_sandbox\/profile"/],
  'PUT /profile': ['/_page/controls', /action="\/_page\/profile"/],
  'POST /profile/switches': ['/_page/controls', /action="\/_page\/profile\/switch"/],
  'POST /channels': ['/_page/channels', /action="\/_page\/channels"/],
  'DELETE /channels/:id': ['/_page/channels', /action="\/_page\/channels\/ch_main\/delete"/],
  'POST /feeds': ['/_page/feeds', /action="\/_page\/feeds"/],
  'DELETE /feeds/:id': ['/_page/feeds', /action="\/_page\/feeds\/feed_news\/delete"/],
  'POST /videos': ['/_page/videos', /action="\/_page\/videos"/],
  'POST /plays': ['the pending video', /action="\/_page\/videos\/vid_\w+\/plays"/],
  'GET /snapshots': ['/_page/controls', /id="named-snapshots"/],
  'PUT /snapshots/:name': ['/_page/controls', /action="\/_page\/snapshots"/],
  'POST /snapshots/:name/restore': ['/_page/controls', /action="\/_page\/snapshots\/kept\/restore"/],
  'DELETE /snapshots/:name': ['/_page/controls', /action="\/_page\/snapshots\/kept\/delete"/],
  'GET /keys': ['/_page/keys', /key_1/],
  'POST /keys': ['/_page/keys', /action="\/_page\/keys"/],
  'DELETE /keys/:id': ['/_page/keys', /action="\/_page\/keys\/key_1\/revoke"/],
  'GET /requests': ['/_page/requests', /id="filter"/],
  'DELETE /requests': ['/_page/requests', /action="\/_page\/requests\/clear"/],
  'GET /requests/:number': ['/_page/requests', /href="\/_page\/requests\/1"/],
  'POST /verify': ['/_page/verify', /name="document"/],
  'GET /clock': ['/_page/controls', /<time /],
  'PUT /clock': ['/_page/controls', /action="\/_page\/clock\?frozen=true"/],
  'POST /clock/advance': ['/_page/controls', /action="\/_page\/clock\/advance"/],
  'GET /rate-limit': ['/_page/controls', /value="1000000"/],
  'PUT /rate-limit': ['/_page/controls', /action="\/_page\/limit"/],
  'POST /videos/:id/fail': ['the pending video', /action="[^"]*\/fail"/],
  'GET /faults': ['/_page/faults', /fault_1/],
  'POST /faults': ['/_page/faults', /action="\/_page\/faults\/presets\/slow\?on=true"/],
  'PUT /faults': ['/_page/faults', /action="\/_page\/faults\/replace"/],
  'DELETE /faults': ['/_page/faults', /action="\/_page\/faults\/clear"/],
  'DELETE /faults/:id': ['/_page/faults', /action="\/_page\/faults\/fault_1\/remove"/],
  'GET /webhooks': ['/_page/webhooks', /wh_/],
  'POST /webhooks': ['/_page/webhooks', /action="\/_page\/webhooks"/],
  'DELETE /webhooks/:id': ['/_page/webhooks', /action="\/_page\/webhooks\/wh_\w+\/delete"/],
  'GET /webhooks/:id/deliveries': ['/_page/webhooks', /msg_/],
  'POST /webhooks/:id/deliveries/:delivery/redeliver': ['/_page/webhooks', /action="[^"]*\/redeliver"/],
};

test('everything that the admin side can do can be done on the page', async () => {
  await using other = await runSandbox({ requestsPerHour: 1e6 });
  const someone = await Visitor.enter(other.sandbox);
  const { id } = await other.create();
  await admin(other, 'POST /faults', { kind: 'delay', ms: 1, operation: 'feeds.list' });
  await admin(other, 'POST /webhooks', { url: 'http://127.0.0.1:9/hook' });
  await other.call('POST', '/feeds/feed_news/publish');
  await admin(other, 'PUT /snapshots/kept');
  const { body } = await admin(other, 'GET ');
  const endpoints = (body.data.endpoints as { method: string; path: string }[]).map(
    ({ method, path }) => `${method} ${path.replace('/_sandbox', '')}`,
  );
  expect(Object.keys(REACHED).toSorted()).toEqual(endpoints.toSorted());
  for (const [endpoint, [view, part]] of Object.entries(REACHED)) {
    const { html } = await someone.get(view === 'the pending video' ? `/_page/videos/${id}` : view);
    expect(html, endpoint).toMatch(part);
  }
});

test('a profile is chosen on the page, and a single point in addition', async () => {
  await using other = await runSandbox();
  const someone = await Visitor.enter(other.sandbox);
  await someone.post('/_page/profile', { profile: 'lenient' });
  await someone.post('/_page/profile/switch', { switch: 'publish_answer=queued' });
  const { html } = await someone.get('/_page/controls');
  expect(html).toMatch(/<option\s[^>]*selected[^>]*>\s*lenient/);
  expect(html).toContain('publish_answer=queued</code>');
});

test('what a test needs is made on the page', async () => {
  await using other = await runSandbox();
  const someone = await Visitor.enter(other.sandbox);
  await someone.post('/_page/channels', { name: 'By hand', description: '' });
  await someone.post('/_page/feeds', { name: 'By hand', type: 'podcast', channel_id: 'ch_by-hand' });
  await someone.post('/_page/videos', { title: 'Made', channel_id: 'ch_by-hand', duration: '90' });
  const [video] = (await other.call('GET', '/videos')).body.data;
  expect(video).toMatchObject({ title: 'Made', status: 'ready', duration: 90 });
  await someone.post(`/_page/videos/${video.id}/plays`, { seconds: '30', viewer: 'ann', complete: 'true' });
  expect((await other.call('GET', `/analytics/videos?video_id=${video.id}`)).body.data).toMatchObject({ views: 1 });
  await someone.post('/_page/snapshots', { name: 'one' });
  await someone.post('/_page/feeds/feed_by-hand/delete');
  expect((await other.call('GET', '/feeds')).body.data).toHaveLength(4);
  await someone.post('/_page/snapshots/one/restore');
  expect((await other.call('GET', '/feeds')).body.data).toHaveLength(5);
  await someone.post('/_page/clock/set', { now: '2040-01-01T00:00:00Z' });
  expect((await someone.get('/_page/controls')).html).toContain('2040-01-01');
});

test('a saved state is said as other things are, and restored only after a question', async () => {
  await using other = await runSandbox();
  const someone = await Visitor.enter(other.sandbox);
  await someone.post('/_page/snapshots', { name: 'kept' });
  const { html } = await someone.get('/_page/controls');
  const [, row = ''] = /<tr data-key="kept">(.*?)<\/tr>/s.exec(html) ?? [];
  expect(row).toMatch(/<time datetime="[^"]+" title="[^"]+">\d{4}-\d\d-\d\d \d\d:\d\d:\d\d<\/time>/);
  expect(row).toMatch(/>[\d.]+ kB</);
  expect(row).toMatch(/Replaces all current records and files\.<\/p>\s*<button class="danger">Restore this state/);
  const nameless = await someone.post('/_page/snapshots', { name: '' });
  expect(nameless.html).toContain('The name of a snapshot has letters');
});

test('behind each request is everything about it, with its fault in words', async () => {
  await service.create({ title: '<b>Tides</b>', description: `at ${service.sandbox.apiKey}` });
  const { number } = service.sandbox.requests().at(-1) ?? { number: 0 };
  const { html } = await visitor.get(`/_page/requests/${number}`);
  for (const fact of [
    'POST',
    'videos.create',
    'Bearer [key_1]',
    '&lt;b&gt;Tides&lt;/b&gt;',
    'at [secret]',
    '[token]',
    'Answer sent',
  ])
    expect(html).toContain(fact);
  await admin(service, 'POST /faults', { kind: 'status', status: 418, operation: 'channels.list', times: 1 });
  await service.call('GET', '/channels?x=1', undefined, { 'x-note': '"one"' });
  const faulty = (await visitor.get(`/_page/requests/${number + 1}`)).html;
  for (const fact of ['/v1/channels?x=1', 'error status', 'status: 418', '&quot;one&quot;', 'no body'])
    expect(faulty).toContain(fact);
  expect((await visitor.get('/_page/requests?fault=hit')).html).toContain('error status');
});

test('a JSON body is shown as it came, with repeated fields and every digit', async () => {
  await service.call('POST', '/videos', '{"title":"first","title":"second","size":12345678901234567890}');
  const { number } = service.sandbox.requests().at(-1) ?? { number: 0 };
  const shown = textOf((await visitor.get(`/_page/requests/${number}`)).html);
  expect(shown).toContain('{\n  "title": "first",\n  "title": "second",\n  "size": 12345678901234567890\n}');
});

/** What a browser shows for this markup. */
function textOf(markup: string): string {
  const named = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' } as const;
  return markup.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => named[entity as keyof typeof named]);
}

test.each(['/_page/requests/0', '/_page/requests/99999', '/_page/requests/x'])(
  '%s is a page that says so',
  async (path) => {
    const { status, html } = await visitor.get(path);
    expect(status).toBe(404);
    expect(html).toContain('There is no such request.');
  },
);

test('requests can be found by path, video and text', async () => {
  const { id } = await service.create({ title: 'Needle in a body' });
  await service.call('GET', `/videos/${id}`);
  const found = async (query: string) =>
    [...(await visitor.get(`/_page/requests${query}`)).html.matchAll(/data-key="request-\d+"/g)].length;
  expect(await found(`?video_id=${id}`)).toBe(2);
  expect(await found('?text=NEEDLE')).toBe(2);
  expect(await found(`?path=${id}&operation=&status=&key=&text=`)).toBe(1);
  expect(await found('?path=/v1/nothing*')).toBe(0);
});

test('requests are listed with their queries, and lead on from their video and their key', async () => {
  const { id } = await service.create();
  await service.call('GET', '/videos?page=2&per_page=5');
  await service.call('GET', '/feeds', undefined, { authorization: 'Bearer none' });
  expect((await visitor.get('/_page/requests')).html).toContain('/v1/videos?page=2&amp;per_page=5');
  expect((await visitor.get(`/_page/videos/${id}`)).html).toContain(`href="/_page/requests?video_id=${id}"`);
  expect((await visitor.get('/_page/keys')).html).toContain('href="/_page/requests?key=key_1"');
  const refused = (await visitor.get('/_page/requests?key=none')).html;
  expect(refused).toContain('<option value="none" selected>');
  expect(refused).toContain('>401<');
  expect(refused).not.toContain('>200<');
});

/** The page with the report of a check. @param given an object, or a text that may not be JSON */
async function check(given: object | string): Promise<string> {
  const document = typeof given === 'string' ? given : JSON.stringify(given);
  return (await visitor.get(`/_page/verify?document=${encodeURIComponent(document)}`)).html;
}

test('names and texts that change the direction of writing are spelled out in reports', async () => {
  await visitor.post('/_page/requests/clear');
  await service.create({ title: 'gpj.\u202eexe' });
  const html = await check({
    expectations: [
      { name: 'a \u202e b', request: { operation: 'videos.create' } },
      { request: { body: { title: 'x' }, operation: 'videos.create' } },
      { name: 'a <feed>', request: { operation: 'videos.create' } },
    ],
  });
  expect(html).toContain('a &lt;feed&gt;');
  const shown = textOf(html.replaceAll(/<textarea.*?<\/textarea>|<[^>]*>/gs, ''));
  expect(shown).not.toContain('\u202e');
  expect(shown).toContain('"a [U+202E] b": 1 matched');
  expect(shown).toContain(String.raw`body.title is "gpj.\u202eexe"`);
});

test('a check says what does not hold, and where a mistake is', async () => {
  expect(await check({ expectations: [{ request: { operation: 'videos.delete' } }] })).toContain(
    'Expected at least 1 request, but none came.',
  );
  expect(await check({ expectations: [{ request: { status: 7 } }] })).toContain(
    'expectations.0.request.status: must be a status',
  );
  expect(await check('{')).toContain('This is not valid JSON.');
  expect(await check('</textarea><script>')).toContain('&lt;/textarea&gt;&lt;script&gt;');
});

test('all faults are replaced by what the field says, and are in words', async () => {
  const rules = [
    { kind: 'reset', of: 'answer', after_bytes: 7, operation: 'feeds.list' },
    { kind: 'rate_limited', retry_after: 'absent', operation: 'feeds.list' },
  ];
  await visitor.post('/_page/faults/replace', { rules: JSON.stringify(rules) });
  const { html } = await visitor.get('/_page/faults');
  for (const words of ['connection reset', 'of: answer, after_bytes: 7', 'rate limited', 'retry_after: absent'])
    expect(html).toContain(words);
  expect((await visitor.post('/_page/faults/replace', { rules: '[' })).status).toBe(400);
  expect((await visitor.post('/_page/faults/replace', { rules: '[{"kind":"odd"}]' })).status).toBe(422);
  await visitor.post('/_page/faults/clear');
});

test('a video fails with the code and the message of the form', async () => {
  const { id } = await service.create();
  await visitor.post(`/_page/videos/${id}/fail`, { code: 'bad_codec', message: 'Unknown codec.' });
  expect((await service.call('GET', `/videos/${id}`)).body.data.error).toEqual({
    code: 'bad_codec',
    message: 'Unknown codec.',
  });
});

test('a delivery is repeated', async () => {
  await using receiver = await startReceiver();
  const { id } = (await admin(service, 'POST /webhooks', { url: receiver.url, events: ['feed.published'] })).body.data;
  await service.call('POST', '/feeds/feed_news/publish');
  await until(() => receiver.received.length === 1);
  const again =
    /\/_page\/webhooks\/wh_\w+\/deliveries\/[\w-]+\/redeliver/.exec((await visitor.get('/_page/webhooks')).html)?.[0] ??
    '';
  expect((await visitor.post(again)).headers.get('location')).toBe(`/_page/webhooks#${id}`);
  await until(() => receiver.received.length === 2);
});

test('a delivery shows what is sent, and when it is tried again', async () => {
  await using other = await runSandbox();
  const someone = await Visitor.enter(other.sandbox);
  const { id } = (await admin(other, 'POST /webhooks', { url: 'http://127.0.0.1:9/hook' })).body.data;
  await other.call('POST', '/feeds/feed_news/publish');
  const failed = await until(
    async () =>
      (await admin(other, `GET /webhooks/${id}/deliveries`)).body.data.find(
        ({ attempts }: { attempts: number }) => attempts > 0,
      ) as { next_attempt_at: string },
  );
  const { html } = await someone.get('/_page/webhooks');
  expect(textOf(html)).toContain('"type": "feed.published"');
  expect(textOf(html)).toContain('"feed_id": "feed_news"');
  expect(html).toContain(`next at <time datetime="${failed.next_attempt_at}"`);
});

test('a saved state is restored from a file; other forms change nothing', async () => {
  await using other = await runSandbox();
  const someone = await Visitor.enter(other.sandbox);
  const { id } = await other.create({ title: 'Kept' });
  const saved = (await someone.get('/_sandbox/export')).html;
  await admin(other, 'POST /reset');
  for (const [content, status] of [
    ['{}', 422],
    ['{', 400],
    ['', 400],
  ] as const)
    expect((await someone.sendFile('/_page/import', 'document', content)).status).toBe(status);
  expect((await someone.post('/_page/import', { document: 'x' })).status).toBe(400);
  expect((await someone.sendFile('/_page/import', 'document', saved, { 'sec-fetch-site': 'cross-site' })).status).toBe(
    403,
  );
  expect((await other.call('GET', `/videos/${id}`)).status).toBe(404);
  expect((await someone.sendFile('/_page/import', 'document', saved)).headers.get('location')).toBe('/');
  expect((await other.call('GET', `/videos/${id}`)).body.data.title).toBe('Kept');
});
