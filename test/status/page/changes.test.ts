import { expect, test } from 'vitest';
import { createPageAccess, type Right } from '../../../src/status/page/access.ts';
import { createSite } from '../../../src/status/page/site.ts';
import { PageError, type Action } from '../../../src/status/page/world.ts';
import { noAnswer } from '../../../src/view/words/unavailable-words.ts';
import { idleDaemon } from './idle-daemon.ts';

const access = createPageAccess('the-token');
const cookieOf = (right: Right) => `dropcast-7878=${access.redeem(access.makeCode(right))}`;
const ORIGIN = 'http://127.0.0.1:7878';
const OWN_FORM = { origin: ORIGIN, 'sec-fetch-site': 'same-origin' };

/** A page with one thing to do. */
function somePage(action: Action = async () => '/done', broke: (error: unknown) => void = () => undefined) {
  const done: string[] = [];
  const source = {
    daemon: idleDaemon({}, ['dropcast.example.com']),
    status: () => Promise.reject(new Error('not needed')),
    health: () => 'ok' as const,
    receive: () => 'not wanted' as const,
    access,
    testNotifications: async () => [],
    broke,
  };
  const site = createSite('127.0.0.1', source, new AbortController().signal, {
    views: [],
    actions: [
      [
        '/files/:id/retry',
        (world, sent) => {
          done.push(`${sent.part('id')} ${sent.form.get('how')}`);
          return action(world, sent);
        },
      ],
    ],
  });
  const post = (headers: Record<string, string>, path = '/files/f_1/retry', body = 'how=now') =>
    site.request(`${ORIGIN}${path}`, { method: 'POST', headers: { host: '127.0.0.1:7878', ...headers }, body });
  return { site, done, post };
}

test('a form of the page, from a session that may change, is done, and leads on with a redirect', async () => {
  const { done, post } = somePage();
  const answer = await post({ cookie: cookieOf('change'), ...OWN_FORM });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/done']);
  expect(done).toEqual(['f_1 now']);
});

test.each<[string, Record<string, string>]>([
  ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['another site that a reader followed a link from', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
  ['a page on another port of this machine', { origin: 'http://127.0.0.1:9999', 'sec-fetch-site': 'same-site' }],
  ['a page on another port, as an old browser reports it', { origin: 'http://127.0.0.1:9999' }],
  ['a page that hides where it is from', { origin: 'null' }],
  ['a name of this machine that the page was not opened under', { origin: 'http://localhost:7878' }],
  ['a program that does not say where it is from', {}],
])('a form of %s changes nothing, though the cookie may', async (_, headers) => {
  const { done, post } = somePage();
  expect((await post({ cookie: cookieOf('change'), ...headers })).status).toBe(403);
  expect(done).toEqual([]);
});

test.each<[string, Record<string, string>, number]>([
  ['the session of a member of the group', { cookie: cookieOf('look') }, 403],
  ['no session', {}, 401],
  ['a session of the daemon at another port', { cookie: cookieOf('change').replace('7878', '7879') }, 401],
  ['the token', { authorization: 'Bearer the-token' }, 303],
  [
    'the token by a proxy that opens the page for looking',
    { authorization: 'Bearer the-token', 'dropcast-access': 'look' },
    403,
  ],
  ['the session of a member who claims more', { cookie: cookieOf('look'), 'dropcast-access': 'change' }, 403],
])('a form with %s is answered', async (_, headers, status) => {
  const { done, post } = somePage();
  expect((await post({ ...OWN_FORM, ...headers })).status).toBe(status);
  expect(done).toHaveLength(status === 303 ? 1 : 0);
});

test('a member of the group reads who may make changes', async () => {
  const answer = await somePage().post({ ...OWN_FORM, cookie: cookieOf('look') });
  expect(await answer.text()).toContain(
    'You have read-only access. For a link that lets you make changes, run: sudo dropcast open.',
  );
});

test('a form through a proxy comes from the name that the proxy serves', async () => {
  const { site } = somePage();
  const from = (origin: string) =>
    site.request('https://dropcast.example.com/files/f_1/retry', {
      method: 'POST',
      headers: { host: 'dropcast.example.com', authorization: 'Bearer the-token', origin },
    });
  expect((await from('https://dropcast.example.com')).status).toBe(303);
  expect((await from('https://evil.example')).status).toBe(403);
});

test('what cannot be done is said in one sentence, and its text is no markup', async () => {
  const { post } = somePage(async () => {
    throw new PageError(409, 'clip<1>.mp4 is uploading: wait for it.');
  });
  const answer = await post({ ...OWN_FORM, cookie: cookieOf('change') });
  expect(answer.status).toBe(409);
  expect(await answer.text()).toContain('clip&lt;1&gt;.mp4 is uploading: wait for it.');
});

test('a defect is reported to the log and not to the reader', async () => {
  const broke: unknown[] = [];
  const { post } = somePage(
    () => Promise.reject(new Error('secret /srv/path')),
    (error) => broke.push(error),
  );
  const answer = await post({ ...OWN_FORM, cookie: cookieOf('change') });
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain('secret');
  expect(broke).toEqual([new Error('secret /srv/path')]);
});

test('a form without end is refused, and so is a form for nothing', async () => {
  const { done, post } = somePage();
  const own = { ...OWN_FORM, cookie: cookieOf('change') };
  expect((await post(own, undefined, 'x'.repeat(70_000))).status).toBe(400);
  expect((await post(own, '/files')).status).toBe(405);
  expect(done).toEqual([]);
});

test('signing out makes the browser forget its cookie, and other sites cannot do that', async () => {
  const { post } = somePage();
  const cookie = cookieOf('look');
  const answer = await post({ ...OWN_FORM, cookie, accept: 'text/html' }, '/sign-out');
  expect(answer.headers.get('set-cookie')).toBe('dropcast-7878=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict');
  expect(await answer.text()).toContain('You are signed out.');
  expect((await post({ cookie, origin: 'https://evil.example' }, '/sign-out')).status).toBe(403);
});

test('a reader who may only look chooses the colours, and stays on the view', async () => {
  const { post } = somePage();
  const send = async (to: string, more: Readonly<Record<string, string>> = {}) => {
    const answer = await post({ ...OWN_FORM, cookie: cookieOf('look'), ...more }, '/theme', `to=${to}`);
    return [answer.status, answer.headers.get('location'), answer.headers.get('set-cookie')];
  };
  const kept = 'dropcast-theme=dark; Max-Age=34560000; Path=/; HttpOnly; SameSite=Strict';
  const referer = 'http://127.0.0.1:7878//files?state=done';
  expect(await send('dark', { referer })).toEqual([303, '/files?state=done', kept]);
  expect(await send('dark', { referer: 'https://evil.example/files' })).toEqual([303, '/', kept]);
  const forgotten = 'dropcast-theme=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict';
  for (const to of ['system', 'dark%22%3E', 'x'.repeat(70_000)]) expect(await send(to)).toEqual([303, '/', forgotten]);
  expect((await send('dark', { origin: 'https://evil.example' }))[0]).toBe(403);
  expect((await send('dark', { cookie: '' }))[0]).toBe(401);
});

test('a change that cannot be written at the moment is refused with the reason, and is not a bug', async () => {
  const broken: unknown[] = [];
  const { post } = somePage(
    async () => Promise.reject(noAnswer(null)),
    (error) => broken.push(error),
  );
  const answer = await post({ cookie: cookieOf('change'), ...OWN_FORM });
  expect([answer.status, broken]).toEqual([503, []]);
  expect(await answer.text()).toContain('PostgreSQL does not answer at the moment');
});
