import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { expectUploadedOnce, loseAnswer, refusal, startBystander, startStation } from './station.ts';
import type { Faults, Station } from './station.ts';
import { dropcast } from './dropcast-process.ts';

/** Over two parts, so that an upload can be cut with its last part still held back. */
const large = 4 * 1024 * 1024;
/** More than the kernel's buffers on both sides hold. A smaller body may have left whole when its reader stops or cuts it. */
const beyondBuffers = 48 * 1024 * 1024;

type Act = (request: IncomingMessage, response: ServerResponse) => boolean;

let station: Station;
/** Has a minute to wait and so runs beside all other tests. */
let patient: Station;
/** The same, each with an upload host of its own: a host that refuses two new addresses is at fault itself. */
let refusing: readonly Station[];

const dead = [403, 404, 410].map((status) => ({ title: `dead-${status}`, status }));
const taken = 'taken-in-late';
const goneFirst = 'cut-then-dead';

beforeAll(async () => {
  station = await startStation();
  patient = await startStation();
  patient.faults.upload = deadAddresses(patient);
  for (const title of [taken, goneFirst])
    await patient.drop(`${title}.mpg`, randomBytes(title === goneFirst ? beyondBuffers : large));
  refusing = await Promise.all(dead.map(() => startStation()));
  for (const [n, { title }] of dead.entries()) {
    const each = refusing[n] as Station;
    each.faults.upload = deadAddresses(each);
    await each.drop(`${title}.mpg`, randomBytes(large));
  }
});
afterAll(async () => {
  await station[Symbol.asyncDispose]();
  for (const each of [patient, ...refusing]) await each[Symbol.asyncDispose]();
});
afterEach(() => Object.assign(station.faults, { api: null, upload: null }));

/** The first address of each title is dead; one had stored the body all the same, one was cut in the middle before. */
function deadAddresses({ host }: Station): NonNullable<Faults['upload']> {
  const firsts = new Map<string, string>();
  const cut = new Set<string>();
  return (request, response, id) => {
    const title = host.videos.get(id)?.title ?? '';
    if (!firsts.has(title)) firsts.set(title, id);
    if (firsts.get(title) !== id) return false;
    if (title === taken) return takeInLate(request, response, id);
    if (title === goneFirst && !cut.has(id)) {
      cut.add(id);
      return cutInTheMiddle(request);
    }
    return refusal(response, dead.find((one) => one.title === title)?.status ?? 404, 'address_used_up');
  };
}

/** The whole body comes in, the answer is a lie, and the video moves on only seconds later. */
function takeInLate(request: IncomingMessage, response: ServerResponse, id: string): true {
  request.resume();
  request.on('end', () => {
    refusal(response, 404, 'address_used_up');
    setTimeout(() => {
      const video = patient.host.videos.get(id);
      if (video !== undefined) Object.assign(video, { status: 'ready', bodies: ['taken in late'] });
    }, 5_000);
  });
  return true;
}

function cutInTheMiddle(request: IncomingMessage): true {
  let received = 0;
  request.on('error', () => undefined);
  request.on('data', (part: Buffer) => {
    received += part.length;
    if (received > large / 4) request.socket.destroy();
  });
  return true;
}

/** A fault of the first upload of this title. */
function firstUpload(title: string, act: Act): NonNullable<Faults['upload']> {
  let isOver = false;
  return (request, response, id) => {
    if (isOver || station.host.videos.get(id)?.title !== title) return false;
    isOver = true;
    return act(request, response);
  };
}

const putsOf = (title: string): number => {
  const ids = new Set(station.videos(title).map(({ id }) => id));
  return station.host.puts.filter((id) => ids.has(id)).length;
};

test('an upload that is refused fails its file alone, and `retry` sends to the same video', async () => {
  station.faults.upload = firstUpload('refused', (_, response) => refusal(response, 422, 'no_video'));
  await station.drop('refused.mpg', randomBytes(large));
  expect(await station.reaches('refused.mpg', 'failed')).toMatchObject({
    code: 'no_video',
    why: expect.stringContaining('upload address answered 422 no_video'),
  });
  expect(await station.failures('refused.mpg')).toMatchObject([{ class: 'permanent', status: 422, next: 'failed' }]);
  await station.retry('refused.mpg');
  await station.reaches('refused.mpg', 'done');
  expectUploadedOnce(station, 'refused');
  expect(station.videos('refused')).toHaveLength(1);
});

test('a file that its host refuses as too large is held without a record, `check` names it, the next one costs no record, and all continue once one is accepted', async () => {
  const isLimited = { now: true };
  station.faults.upload = (request, response) =>
    isLimited.now && Number(request.headers['content-length']) > 2 * large && refusal(response, 413, 'too_large');
  await station.drop('large-1.mpg', randomBytes(2 * large + 1));
  const held = await station.reaches('large-1.mpg', 'held');
  expect(held).toMatchObject({
    code: 'over_size_limit',
    video_id: null,
    why: expect.stringMatching(/^it has 8\.39 MB, and the service refused that \(413 too_large/),
  });
  expect(station.videos('large-1')).toEqual([]);
  const { stdout } = await dropcast(['check', '--config', station.scratch.config]);
  expect(stdout).toMatch(/1 file is larger than the limit learned from the service \(8\.39 MB\), such as large-1\.mpg/);
  await station.drop('large-2.mpg', randomBytes(2 * large + 2));

  const creates = (): number => station.host.requests.filter(({ method }) => method === 'POST').length;
  const before = creates();
  await station.reaches('large-2.mpg', 'held');
  expect(creates()).toBe(before);
  isLimited.now = false;
  await station.retry('large-1.mpg');
  for (const path of ['large-1.mpg', 'large-2.mpg']) await station.reaches(path, 'done');
  for (const title of ['large-1', 'large-2']) expectUploadedOnce(station, title);
});

test('a redirect of an upload is never followed: no byte and no request for the other server, and the file waits', async () => {
  await using bystander = await startBystander();
  station.faults.upload = firstUpload('sent-on', (_, response) => {
    response.writeHead(307, { location: `${bystander.origin}/take` }).end();
    return true;
  });
  await station.drop('sent-on.mpg', randomBytes(large));
  await station.reaches('sent-on.mpg', 'done');
  const [line] = await station.failures('sent-on.mpg');
  expect(line).toMatchObject({ code: 'redirect', message: expect.stringContaining(`redirect to ${bystander.origin}`) });
  expect(bystander.requests).toEqual([]);
  expectUploadedOnce(station, 'sent-on');
});

test('stored, but the answer lost: dropcast checks with the service, and sends nothing twice', async () => {
  station.faults.upload = firstUpload('answer-lost', (request, response) => loseAnswer(request, response));
  await station.drop('answer-lost.mpg', randomBytes(large));
  await station.reaches('answer-lost.mpg', 'done');
  expectUploadedOnce(station, 'answer-lost');
  expect(putsOf('answer-lost')).toBe(1);
  expect(await station.failures('answer-lost.mpg')).toMatchObject([
    { class: 'offline', code: 'ECONNRESET', attempt: 0 },
  ]);
});

test.for<{ name: string; failure: object; act: Act }>([
  { name: 'reset in the middle', failure: { class: 'offline' }, act: (request) => cutInTheMiddle(request) },
  {
    name: '500 after the whole body',
    failure: { class: 'offline', status: 500 },
    act: (request, response) => {
      request.resume().on('end', () => refusal(response, 500, 'server_error'));
      return true;
    },
  },
  {
    name: '503 at once',
    failure: { class: 'offline', status: 503 },
    act: (_, response) => refusal(response, 503, 'busy', { 'retry-after': '1' }),
  },
  {
    name: 'stalled in the middle',
    failure: { class: 'offline', message: expect.stringContaining('2 s') },
    act: (request) => {
      request.once('data', () => request.pause());
      return true;
    },
  },
])('$name: sent again to the same address, once complete', async ({ name, failure, act }) => {
  const title = name.replaceAll(' ', '-');
  station.faults.upload = firstUpload(title, act);
  await station.drop(`${title}.mpg`, randomBytes(name.startsWith('stalled') ? beyondBuffers : large));
  await station.reaches(`${title}.mpg`, 'done');
  expectUploadedOnce(station, title);
  expect(station.videos(title)).toHaveLength(1);
  expect(putsOf(title)).toBe(2);
  const [line, ...others] = await station.failures(`${title}.mpg`);
  expect(line).toMatchObject({ ...failure, attempt: 0, next: expect.stringMatching(/^next try not before/) });
  expect(others).toEqual([]);
});

test('an upload address that dies: after a minute and a second look the video is deleted and recreated, once', async () => {
  for (const [n, { title, status }] of dead.entries()) {
    const each = refusing[n] as Station;
    await each.reaches(`${title}.mpg`, 'done');
    expectUploadedOnce(each, title);
    const failures = await each.failures(`${title}.mpg`);
    expect(failures[0]).toMatchObject({ class: 'address dead', status, code: 'address_used_up' });
    expect(each.host.deleted).toHaveLength(1);
  }
  await patient.reaches(`${goneFirst}.mpg`, 'done');
  expectUploadedOnce(patient, goneFirst);
  expect(patient.host.deleted).toHaveLength(1);
});

test('an address that was dead only after it had taken everything in: the video is kept', async () => {
  await until('it is done', async () => (await patient.file(`${taken}.mpg`))?.state === 'done');
  expectUploadedOnce(patient, taken);
  expect(patient.videos(taken)).toHaveLength(1);
});
