import type { IncomingMessage, ServerResponse } from 'node:http';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { alongside } from './alongside.ts';
import { dropcast } from './dropcast-process.ts';
import { until } from '../support/until.ts';
import {
  answer,
  stationSettings,
  expectUploadedOnce,
  isCreate,
  loseAnswer,
  refusal,
  startBystander,
  startStation,
} from './station.ts';
import type { SuspectsView } from '../../src/view/files/suspects.ts';
import type { Faults, Station } from './station.ts';
import { startVideoHost } from './video-host.ts';
import { writeConfig } from '../support/configuration.ts';

type Act = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/** A fault of the first create request for this title: files of other tests may still be on their way. */
function firstCreate(title: string, act: Act): NonNullable<Faults['api']> {
  let isOver = false;
  return (request, response, body) => {
    if (isOver || !isCreate(request) || !body.includes(`"${title}"`)) return false;
    isOver = true;
    return act(request, response);
  };
}

const isList = (request: IncomingMessage): boolean => request.method === 'GET' && /\/videos\?/.test(request.url ?? '');
const isGet = (request: IncomingMessage): boolean => request.method === 'GET' && /\/videos\//.test(request.url ?? '');

/** The files of a test that are still waited for must not meet the fault of the next one. */
function clearing(station: () => Station): void {
  afterEach(() => Object.assign(station().faults, { api: null, upload: null }));
}

alongside('a service that limits requests', () => {
  let station: Station;
  beforeAll(async () => {
    station = await startStation();
  });
  afterAll(() => station[Symbol.asyncDispose]());
  clearing(() => station);

  test.for([
    { name: 'seconds', headers: (): Record<string, string> => ({ 'retry-after': '3' }) },
    {
      name: 'a date of a clock that is wrong by a day',
      headers: (): Record<string, string> => ({
        date: new Date(Date.now() - 86_400_000).toUTCString(),
        'retry-after': new Date(Date.now() - 86_400_000 + 3_500).toUTCString(),
      }),
    },
  ])('429 with Retry-After as $name: no request at all before that time', async ({ name, headers }) => {
    const title = `limited-by-${name.split(' ').at(-1)}`;
    let refusedAt = 0;
    station.faults.api = firstCreate(title, (_, response) => {
      refusedAt = performance.now();
      return refusal(response, 429, 'rate_limited', headers());
    });
    await station.drop(`${title}.mpg`);
    await until('it was refused', () => refusedAt !== 0);
    await station.drop(`another-${title}.mpg`);
    await until('the gate is shut', async () => ((await station.status()).requests?.blocked_until ?? 0) > Date.now());
    await station.reaches(`another-${title}.mpg`, 'done');
    const next = station.host.requests.find(({ at }) => at > refusedAt + 5);
    expect(next?.at).toBeGreaterThanOrEqual(refusedAt + 2_400);
    expect(await station.failures(`${title}.mpg`)).toMatchObject([{ class: 'throttled', status: 429, attempt: 0 }]);
    // The refused file went through by itself.
    await station.reaches(`${title}.mpg`, 'done');
    expectUploadedOnce(station, title);
  });
});

alongside('a service whose answers to a create request are useless', () => {
  let station: Station;
  beforeAll(async () => {
    station = await startStation();
  });
  afterAll(() => station[Symbol.asyncDispose]());
  clearing(() => station);

  test('a slow one is waited for: no request is sent twice', async () => {
    station.faults.api = async (request, _, body) => {
      // A moment in which nothing is to be asked.
      if (isCreate(request) && body.includes('"slow"')) await new Promise((resolve) => setTimeout(resolve, 2_000));
      return false;
    };
    await station.drop('slow.mpg');
    await station.reaches('slow.mpg', 'done');
    expect(station.videos('slow')).toHaveLength(1);
    expect(await station.failures('slow.mpg', 0)).toEqual([]);
  });

  test.for<{ name: string; status: number | null; code: string; act: Act }>([
    {
      name: '502 with a web page',
      status: 502,
      code: 'bad_gateway',
      act: (_, response) => answer(response, 502, '<html><h1>Bad Gateway</h1></html>', { 'content-type': 'text/html' }),
    },
    {
      name: '200 with the web page of a login portal',
      status: 200,
      code: 'unreadable_answer',
      act: (_, response) => answer(response, 200, '<!doctype html><p>Welcome</p>', { 'content-type': 'text/html' }),
    },
    {
      name: 'half a JSON',
      status: 201,
      code: 'unreadable_answer',
      act: (_, response) => answer(response, 201, '{"id":"vid_1","upl'),
    },
    { name: 'a record made, but the connection cut', status: null, code: 'ECONNRESET', act: loseAnswer },
  ])('$name: the next try makes one that counts, and the doubt is shown', async ({ name, status, code, act }) => {
    const title = name.replaceAll(/[^a-z0-9]+/gi, '-');
    station.faults.api = firstCreate(title, act);
    await station.drop(`${title}.mpg`);
    await station.reaches(`${title}.mpg`, 'done');
    expectUploadedOnce(station, title);
    const [line, ...others] = await station.failures(`${title}.mpg`);
    expect(line).toMatchObject({ v: 1, class: 'transient', status, code, attempt: 1 });
    expect(line?.next).toMatch(/^next try not before \d{4}-/);
    expect(others).toEqual([]);
    expect((await station.show(`${title}.mpg`)).suspects).toBe(1);
  });

  test('`dropcast suspects` names them, and --dismiss forgets them', async () => {
    station.faults.api = firstCreate('doubtful', loseAnswer);
    await station.drop('doubtful.mpg');
    await station.reaches('doubtful.mpg', 'done');
    const run = (...args: readonly string[]) => dropcast(['suspects', ...args, '--config', station.scratch.config]);
    const { suspects } = JSON.parse((await run('--json')).stdout) as SuspectsView;
    const path = station.scratch.file('inbox/doubtful.mpg');
    expect(suspects).toContainEqual(expect.objectContaining({ title: 'doubtful', path, video_id: null }));
    expect((await station.status()).suspects).toBe(suspects.length);
    expect(await run('--dismiss', 'all')).toMatchObject({ code: 0, stdout: expect.stringContaining('Dismissed') });
    expect((await station.status()).suspects).toBe(0);
  });
});

alongside('a service that refuses a create request', () => {
  let station: Station;
  beforeAll(async () => {
    station = await startStation();
  });
  afterAll(() => station[Symbol.asyncDispose]());
  clearing(() => station);

  test('413 fails this file alone, with the words of the service; after `retry` it goes through', async () => {
    station.faults.api = (request, response, body) =>
      isCreate(request) && body.includes('"huge"') && refusal(response, 413, 'too_large');
    await station.drop('huge.mpg');
    await station.drop('usual.mpg');
    expect(await station.reaches('huge.mpg', 'failed')).toMatchObject({
      code: 'too_large',
      why: expect.stringContaining('413 too_large: too_large, says the test'),
    });
    await station.reaches('usual.mpg', 'done');
    expect(await station.failures('huge.mpg')).toMatchObject([
      { class: 'permanent', status: 413, code: 'too_large', next: 'failed' },
    ]);
    expect((await station.status()).waiting).toBeNull();
    station.faults.api = null;
    await station.retry('huge.mpg');
    await station.reaches('huge.mpg', 'done');
    expectUploadedOnce(station, 'huge');
  });

  test('404 to a create request needs a person, and never claims that a video was deleted', async () => {
    station.faults.api = (request, response, body) =>
      isCreate(request) && body.includes('"nowhere"') && refusal(response, 404, 'not_found');
    await station.drop('nowhere.mpg');
    await until('it ended', async () => ['failed', 'held'].includes((await station.file('nowhere.mpg'))?.state ?? ''));
    const { why } = (await station.file('nowhere.mpg')) ?? {};
    expect(why).toContain('404');
    expect(why).not.toContain('deleted');
    expect(await station.failures('nowhere.mpg', 2)).toMatchObject([{ class: 'transient' }, { class: 'permanent' }]);
    station.faults.api = null;
    await station.retry('nowhere.mpg');
    await station.reaches('nowhere.mpg', 'done');
    expectUploadedOnce(station, 'nowhere');
  });
});

/** A daemon, and six files at a time that all wait for the service. */
async function startWaiting() {
  const station = await startStation();
  const some = (name: string): readonly string[] => [1, 2, 3, 4, 5, 6].map((n) => `${name}-${n}.mpg`);
  return {
    station,
    some,
    waits: (kind: string) =>
      until(`everything waits: ${kind}`, async () => (await station.status()).waiting?.kind === kind),
    dropSome: (name: string) => Promise.all(some(name).map((path) => station.drop(path))),
    allDone: async (name: string): Promise<void> => {
      for (const path of some(name)) {
        await station.reaches(path, 'done');
        expectUploadedOnce(station, path.replace('.mpg', ''));
      }
    },
    noneFailed: async (): Promise<void> => expect((await station.status()).counts).not.toHaveProperty('failed'),
    [Symbol.asyncDispose]: () => station[Symbol.asyncDispose](),
  };
}

describe.concurrent('a service that is unreachable or refuses everything', () => {
  test('a storm of 500 stops everything, fails no file, and passes', async () => {
    await using waiting = await startWaiting();
    const { station, waits, dropSome, allDone, noneFailed } = waiting;
    let stormy = 0;
    station.faults.api = (_, response) => refusal(response, 500, 'server_error', { 'x-n': String((stormy += 1)) });
    await dropSome('storm');
    await waits('offline');
    expect((await station.status()).waiting?.why).toContain('500');
    const before = stormy;
    const waitedFrom = performance.now();
    // A moment in which little is to happen, however long it takes.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const seconds = (performance.now() - waitedFrom) / 1_000;
    // One a second at most, and those that were on their way; without a pause six files make some 70.
    expect(stormy - before, `probes in ${seconds} s`).toBeLessThanOrEqual(seconds + 4);
    await noneFailed();
    station.faults.api = null;
    await allDone('storm');
  });

  test('401: everything waits with the reason, and a new key, reloaded by SIGHUP, ends it', async () => {
    await using waiting = await startWaiting();
    const { station, some, waits, dropSome, allDone, noneFailed } = waiting;
    const good = await readFile(station.scratch.config, 'utf8');
    await writeFile(station.scratch.config, good.replace(station.host.key, 'key-that-was-revoked'));
    station.daemon().child.kill('SIGHUP');
    await until('the bad key is active', () => station.daemon().output().includes('"Reloaded"'));
    const before = station.host.requests.length;
    await dropSome('key');
    await waits('suspended');
    expect((await station.status()).waiting).toMatchObject({ why: expect.stringContaining('401') });
    // A moment in which almost nothing is to be asked.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(station.host.requests.length - before, 'requests with the bad key').toBeLessThanOrEqual(4);
    await noneFailed();
    // Which of them asked first is open: the others are held back without a request.
    const [line] = await station.failures(some('key'));
    expect(line).toMatchObject({ class: 'suspended', status: 401, code: 'unauthorized', attempt: 0 });
    await writeFile(station.scratch.config, good);
    station.daemon().child.kill('SIGHUP');
    await allDone('key');
    expect((await station.status()).waiting).toBeNull();
  });

  test.for([
    { name: '402', act: (response: ServerResponse) => refusal(response, 402, 'payment_required') },
    { name: '403', act: (response: ServerResponse) => refusal(response, 403, 'forbidden') },
  ])('$name to create requests: new files wait, and continue when `retry --all` asks again', async ({ name, act }) => {
    await using waiting = await startWaiting();
    const { station, waits, dropSome, allDone, noneFailed } = waiting;
    station.faults.api = (request, response) => isCreate(request) && act(response);
    await dropSome(`no-${name}`);
    await waits('suspended');
    await noneFailed();
    station.faults.api = null;
    const retry = await dropcast(['retry', '--all', '--config', station.scratch.config]);
    expect(retry).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`files wait: .*${name}`)),
    });
    await allDone(`no-${name}`);
  });

  test('full storage: one cause over a kill, no further request, and files continue', async () => {
    await using waiting = await startWaiting();
    const { station, some, dropSome, allDone, noneFailed } = waiting;
    let refused = 0;
    station.faults.api = (request, response) =>
      isCreate(request) && (refused += 1) > 0 && refusal(response, 507, 'storage_full');
    const waits = () =>
      until('new files wait', async () => (await station.status()).waits.some(({ cause }) => cause === 'storage'));
    await dropSome('full');
    await waits();
    // A line that follows its change of state would be lost with the process.
    await station.failures(some('full'));
    station.daemon().child.kill('SIGKILL');
    await station.daemon().ended;
    // The second create request may have left just before.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = refused;
    await station.start();
    await waits();
    expect((await station.status()).waits).toMatchObject([{ cause: 'storage', holds: 'new files' }]);
    await noneFailed();
    // Two create requests are sent at a time.
    expect(before).toBeLessThanOrEqual(2);
    expect(refused).toBe(before);
    expect((await station.failures(some('full'))).length).toBeLessThanOrEqual(refused);
    station.faults.api = null;
    await station.retryAll();
    await allDone('full');
  });

  test('404 to everything is the address, not the files: everything waits with the reason', async () => {
    await using waiting = await startWaiting();
    const { station, waits, dropSome, allDone, noneFailed } = waiting;
    station.faults.api = (_, response) => answer(response, 404, 'nothing here');
    await dropSome('astray');
    await waits('suspended');
    expect((await station.status()).waiting?.why).toContain('service.base_url');
    await noneFailed();
    station.faults.api = null;
    await station.retryAll();
    await allDone('astray');
  });

  test('a redirect is never followed: the other server sees nothing, and everything waits', async () => {
    await using waiting = await startWaiting();
    const { station, waits, dropSome, allDone, noneFailed } = waiting;
    await using bystander = await startBystander();
    station.faults.api = (_, response) =>
      answer(response, 307, '', { location: `${bystander.origin}/v1/videos?leak=1` });
    await dropSome('moved');
    await waits('suspended');
    expect((await station.status()).waiting?.why).toContain(`redirect to ${bystander.origin}`);
    expect(bystander.requests).toEqual([]);
    await noneFailed();
    station.faults.api = null;
    await station.retryAll();
    await allDone('moved');
    expect(bystander.requests).toEqual([]);
  });
});

test.concurrent('a service that is down at the start: everything waits, and starts when it comes up', async () => {
  await using before = await startVideoHost();
  const { key, baseUrl } = before;
  await before[Symbol.asyncDispose]();
  await using station = await startStation({ isStarted: false });
  await writeConfig(station.scratch, stationSettings({ key, baseUrl }));
  await station.drop('early.mpg');
  await station.drop('early-too.mpg');
  await station.start();
  await until('everything waits', async () => (await station.status()).waiting?.kind === 'offline');
  expect((await station.failures(['early.mpg', 'early-too.mpg']))[0]).toMatchObject({
    class: 'offline',
    code: 'ECONNREFUSED',
    attempt: 0,
  });
  await using host = await startVideoHost({ key, port: Number(new URL(baseUrl).port) });
  await station.reaches('early.mpg', 'done');
  await station.reaches('early-too.mpg', 'done');
  const uploaded = [...host.videos.values()].map(({ title, bodies }) => `${title} ${bodies.length}`);
  expect(uploaded.toSorted()).toEqual(['early 1', 'early-too 1']);
});

alongside('a service that decides otherwise about a video', () => {
  let station: Station;
  beforeAll(async () => {
    station = await startStation();
  });
  afterAll(() => station[Symbol.asyncDispose]());
  clearing(() => station);

  test('a video that it could not process is failed with its words; `retry` replaces it', async () => {
    station.faults.api = (request, response) => {
      const [video] = station.videos('broken');
      if (!isGet(request) || video === undefined) return false;
      return answer(response, 200, { data: { id: video.id, status: 'failed', error: 'no moov atom' } });
    };
    await station.drop('broken.mpg');
    expect(await station.reaches('broken.mpg', 'failed')).toMatchObject({
      code: 'processing_failed',
      why: expect.stringMatching(/: no moov atom$/),
      remote_status: 'failed',
    });
    expect(await station.failures('broken.mpg')).toMatchObject([
      { class: 'permanent', code: 'processing_failed', next: 'failed' },
    ]);
    const [first] = station.videos('broken');
    station.faults.api = null;
    await station.retry('broken.mpg');
    await station.reaches('broken.mpg', 'done');
    expect(station.host.deleted).toContain(first?.id);
    expectUploadedOnce(station, 'broken');
  });

  test('a video deleted there while it was processed is held; only `retry` uploads it again', async () => {
    station.faults.api = (request, response) =>
      isGet(request) && station.videos('unwanted').length > 0 && refusal(response, 404, 'not_found');
    await station.drop('unwanted.mpg');
    const held = await station.reaches('unwanted.mpg', 'held');
    expect(held.why).toContain('deleted on the service');
    expect(await station.failures('unwanted.mpg')).toMatchObject([{ class: 'gone', code: 'not_found', next: 'held' }]);
    station.host.videos.delete(held.video_id ?? '');
    station.faults.api = null;
    await station.retry('unwanted.mpg');
    const again = await station.reaches('unwanted.mpg', 'done');
    expect(again.video_id).not.toBe(held.video_id);
  });

  test('an unknown status word is shown and waited on', async () => {
    station.faults.api = (request, response) => {
      const [video] = station.videos('odd');
      if (!isGet(request) || video === undefined) return false;
      return answer(response, 200, { id: video.id, status: 'dreaming' });
    };
    await station.drop('odd.mpg');
    await until('the word is shown', async () => (await station.file('odd.mpg'))?.remote_status === 'dreaming');
    expect((await station.file('odd.mpg'))?.state).toBe('processing');
    station.faults.api = null;
    expect((await station.reaches('odd.mpg', 'done')).remote_status).toBe('ready');
  });

  test('a feed that does not exist fails its file by name; the video stays, and `retry` only publishes', async () => {
    station.faults.api = (request, response) =>
      (request.url ?? '').includes('feed_missing') && refusal(response, 404, 'not_found');
    await station.drop('nofeed/fed.mpg');
    expect(await station.reaches('nofeed/fed.mpg', 'failed')).toMatchObject({
      code: 'feed_not_found',
      why: expect.stringContaining('feed_missing'),
      remote_status: 'ready',
    });
    expect(await station.failures('nofeed/fed.mpg')).toMatchObject([
      { class: 'permanent', status: 404, next: 'failed' },
    ]);
    station.faults.api = null;
    await station.retry('nofeed/fed.mpg');
    const done = await station.reaches('nofeed/fed.mpg', 'done');
    expect(Object.keys(done.published)).toEqual(['feed_missing']);
    expectUploadedOnce(station, 'fed');
    expect(station.host.deleted).not.toContain(done.video_id);
  });

  test.for<{ name: string; change: (items: object[]) => object }>([
    { name: 'hides the videos', change: () => ({ data: [], meta: { page: 1, per_page: 100, total: 0 } }) },
    { name: 'tells each twice', change: (items) => ({ data: [...items, ...items], meta: { total: items.length } }) },
    { name: 'lists oldest first without meta', change: (items) => ({ data: items.toReversed() }) },
    {
      name: 'claims ten thousand more',
      change: (items) => ({ data: items, meta: { page: 1, per_page: 100, total: 10_000 } }),
    },
    { name: 'has entries of another shape', change: (items) => ({ data: [null, 7, { id: 9 }, ...items], meta: {} }) },
  ])('a list that $name delays nothing and loses nothing', async ({ name, change }, { expect }) => {
    const title = name.replaceAll(' ', '-');
    station.faults.api = (request, response) => {
      if (!isList(request)) return false;
      const page = Number(new URL(request.url ?? '', 'http://host').searchParams.get('page') ?? 1);
      const all = [...station.host.videos.values()].toReversed().map(({ id, status }) => ({ id, status, title: 'x' }));
      return answer(response, 200, page === 1 ? change(all) : { data: [] });
    };
    await Promise.all([1, 2, 3].map((n) => station.drop(`${title}-${n}.mpg`)));
    for (const n of [1, 2, 3]) {
      await station.reaches(`${title}-${n}.mpg`, 'done');
      expectUploadedOnce(station, `${title}-${n}`);
      expect(await station.failures(`${title}-${n}.mpg`, 0)).toEqual([]);
    }
  });

  test('what `show` and `ls` print for people names the outcome', async () => {
    station.faults.api = firstCreate('shown', (_, response) => refusal(response, 422, 'title_taken'));
    await station.drop('shown.mpg');
    await station.reaches('shown.mpg', 'failed');
    const show = await dropcast(['show', station.scratch.file('inbox/shown.mpg'), '--config', station.scratch.config]);
    expect(show.stdout).toMatch(/^state\s+failed: the service answered 422 title_taken/m);
    const ls = await dropcast(['ls', '--state', 'failed', '--config', station.scratch.config]);
    expect(ls.stdout).toContain('shown.mpg');
    expect(ls.stdout).toContain('422 title_taken');
  });
});
