import nock from 'nock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AddressDeadError, UploadRejectedError } from '@dropcast/client';
import type { SendCallOptions, UploadedVideo, VideoClient } from '@dropcast/client';
import { createVideoHost } from '../../src/host/video-host.ts';
import type { VideoHostParts } from '../../src/host/video-host.ts';
import { failureOfFile } from '../../src/disk/failure.ts';
import { uploadSource } from '../../src/disk/accepted-file.ts';
import { markerOf } from '../../src/pipeline/file/marker.ts';
import { created, someFacts } from '../pipeline/some-facts.ts';
import { openDaemonClient } from '../client/daemon-client.ts';
import type { Opened } from '../client/daemon-client.ts';

const base = 'https://video.example.com/v1';
const nothing = { error: { code: 'not_found', message: 'nothing here' } };
const { signal } = new AbortController();

beforeAll(() => nock.disableNetConnect());
afterAll(() => nock.enableNetConnect());

test.for([
  { name: 'once: tried again', attempts: 0, kind: 'transient' },
  { name: 'again: the file fails', attempts: 1, kind: 'permanent' },
])('404 to a create request $name', async ({ attempts, kind }) => {
  await using opened = openDaemonClient(base);
  nock(base).post('/videos').reply(404, nothing);
  expect(await hostedBy(opened).create(someFacts({ attempts }), 'token', signal)).toMatchObject({
    ok: false,
    failure: { kind },
  });
});

test.for([
  {
    name: 'with a key that the service honours: an earlier one may have made the record',
    isKeyed: true,
    kind: 'transient',
  },
  { name: 'without one: refused', isKeyed: false, kind: 'permanent' },
])('409 to a create request $name', async ({ isKeyed, kind }) => {
  await using opened = openDaemonClient(base, { honoursIdempotencyKey: isKeyed });
  nock(base)
    .post('/videos')
    .reply(409, { error: { code: 'conflict', message: 'still under way' } });
  const host = createVideoHost({ ...partsOf(opened.client), honoursIdempotencyKey: () => isKeyed });
  const answer = await host.create(someFacts(), 'token', signal);
  expect(answer).toMatchObject({ ok: false, failure: { kind, status: 409, ...(isKeyed && { inDoubt: true }) } });
});

test('a file is sent with the headers of its row and of the configuration', async () => {
  const calls: unknown[] = [];
  const send = async (_: unknown, to: object, options: SendCallOptions) => {
    calls.push([to, options.headers, options.contentType]);
    return { id: 'vid_1', sizeBytes: 1, sha256: 'aa' };
  };
  const configured = { headers: { 'x-own': '1' }, contentType: null };
  const host = createVideoHost({
    ...partsOf({ videos: { send } } as unknown as VideoClient),
    sendOptions: () => configured,
  });
  await host.send(someFacts({ ...created, uploadHeaders: { 'x-token': 's' } }), hooks);
  await host.send(someFacts(created), hooks);
  const to = { id: 'vid_1', uploadUrl: 'u:vid_1' };
  expect(calls).toEqual([
    [{ ...to, uploadHeaders: { 'x-token': 's' } }, configured.headers, null],
    [to, configured.headers, null],
  ]);
});

const hooks = {
  signal,
  isFirstUse: true,
  alsoHash: [],
  onProgress: () => {},
  onSession: async () => {},
  beforeLastPart: async () => {},
};

/** Parts with a client whose uploads are refused. */
const refusedUploads = (error: Error) => {
  const send = async (): Promise<never> => {
    throw error;
  };
  return partsOf({ videos: { send } } as unknown as VideoClient);
};

test('a signature mismatch with every content type says what to set', async () => {
  const message = 'the upload address answered 403 forbidden: SignatureDoesNotMatch.';
  const host = createVideoHost(refusedUploads(new AddressDeadError(message, { status: 403, code: 'forbidden' })));
  expect(await host.send(someFacts(created), hooks)).toMatchObject({
    ok: false,
    failure: {
      kind: 'address dead',
      message: expect.stringMatching(/SignatureDoesNotMatch; set uploads\.content_type/),
    },
  });
});

test.each([
  [405, 'put', / 405; uploads\.protocol is put: if the upload host speaks another protocol, set it to auto$/],
  [405, undefined, / 405\.$/],
  [422, 'put', / 422\.$/],
] as const)(
  'a refusal with %i while uploads.protocol is %s names the setting if it may be wrong',
  async (status, protocol, says) => {
    const error = new UploadRejectedError(`the upload address answered ${status}.`, { status, code: 'refused' });
    const sendOptions = () => ({ headers: {}, contentType: undefined, protocol });
    const host = createVideoHost({ ...refusedUploads(error), sendOptions });
    const answer = await host.send(someFacts(created), hooks);
    expect(answer).toMatchObject({ ok: false, failure: { kind: 'permanent', message: expect.stringMatching(says) } });
  },
);

test('404 to all that a probe asks for is the address: everything waits', async () => {
  await using opened = openDaemonClient(base);
  nock(base).get('/videos').query(true).reply(404, nothing).get('/channels').reply(404, nothing);
  expect(await hostedBy(opened).probe(signal)).toMatchObject({
    ok: false,
    failure: { kind: 'suspended', code: 'no_service' },
  });
});

test.for([
  { said: { page: 1, per_page: 25, total: 60 }, perPage: 25 },
  { said: { page: 1, total: 60 }, perPage: 100 },
  { said: { page: 1, per_page: 0, total: 60 }, perPage: 1 },
])('a listed page is as large as the service says: $said', async ({ said, perPage }) => {
  await using opened = openDaemonClient(base);
  nock(base)
    .get('/videos?page=1&per_page=100')
    .reply(200, { data: [{ id: 'vid_1', status: 'ready' }], meta: said });
  const listed = await hostedBy(opened).list(1, signal);
  expect(listed).toMatchObject({ ok: true, value: { perPage, total: 60 } });
});

test.for([
  { name: 'is answered by the list alone where that works', list: 200, channels: null, ok: true },
  { name: 'asks for the channels where only the list fails', list: 500, channels: 200, ok: true },
  { name: 'fails when both do', list: 500, channels: 502, ok: false },
  { name: 'asks nothing more of a service that refuses the key', list: 401, channels: null, ok: false },
])('a probe $name', async ({ list, channels, ok }) => {
  await using opened = openDaemonClient(base);
  const service = nock(base).get('/videos').query(true).reply(list, { data: [] });
  if (channels !== null) service.get('/channels').reply(channels, { data: [] });
  expect((await hostedBy(opened).probe(signal)).ok).toBe(ok);
  expect(service.isDone()).toBe(true);
});

test('a key that the service does not take says what a new one takes', async () => {
  await using opened = openDaemonClient(base);
  nock(base)
    .get('/videos/vid_1')
    .reply(401, { error: { code: 'unauthorized', message: 'who are you?' } });
  expect(await hostedBy(opened).get('vid_1', signal)).toMatchObject({
    ok: false,
    failure: { kind: 'suspended', message: expect.stringMatching(/401 .*; a new key takes this$/) },
  });
});

// Held for ten minutes each, four uploads that nobody answers kept every other file waiting.
test.for([
  { stallTimeoutMs: 90_000, answerTimeoutMs: 90_000 },
  { stallTimeoutMs: 1_000, answerTimeoutMs: 60_000 },
])(
  'after the last byte an upload waits $answerTimeoutMs ms for the answer when stall_timeout is $stallTimeoutMs ms',
  async ({ stallTimeoutMs, answerTimeoutMs }) => {
    const asked: SendCallOptions[] = [];
    const send = async (_source: unknown, _to: unknown, options: SendCallOptions): Promise<UploadedVideo> => {
      asked.push(options);
      return { id: 'vid_1', sizeBytes: 0, sha256: 'aa' };
    };
    const client = { videos: { send } } as unknown as VideoClient;
    const host = createVideoHost({ ...partsOf(client), stallTimeoutMs: () => stallTimeoutMs });
    await host.send(someFacts(created), {
      signal,
      onProgress: () => undefined,
      onSession: async () => {},
      alsoHash: [],
      isFirstUse: true,
      beforeLastPart: async () => undefined,
    });
    expect(asked).toMatchObject([{ stallTimeoutMs, answerTimeoutMs }]);
  },
);

function hostedBy({ client }: Opened): ReturnType<typeof createVideoHost> {
  return createVideoHost(partsOf(client));
}

function partsOf(client: VideoClient): VideoHostParts {
  return {
    client: () => client,
    sourceOf: (facts, alsoHash) => uploadSource(facts, () => true, alsoHash),
    failureOfFile,
    stallTimeoutMs: () => 1_000,
    howToRenewKey: () => 'a new key takes this',
  };
}

test.each([
  ['https://video.example.com/embed/vid_1', { embedUrl: 'https://video.example.com/embed/vid_1' }],
  ['javascript:alert(1)', {}],
  ['https://user:secret@video.example.com/', {}],
])('the embed address %s becomes %o', async (address, expected) => {
  await using opened = openDaemonClient(base);
  nock(base).get('/videos/vid_1').reply(200, { id: 'vid_1', status: 'ready', embed_url: address });
  const answer = await hostedBy(opened).get('vid_1', signal);
  expect(answer).toEqual({ ok: true, value: { id: 'vid_1', status: 'ready', ...expected } });
});

test('what the service says of a video is shortened before it is repeated everywhere', async () => {
  await using opened = openDaemonClient(base);
  nock(base)
    .get('/videos/vid_1')
    .reply(200, { id: 'vid_1', status: 'failed', error: 'no '.repeat(2_000) });
  const answer = await hostedBy(opened).get('vid_1', signal);
  expect(answer).toMatchObject({ ok: true, value: { message: expect.stringMatching(/^[no ]{500}…$/) } });
});

test('a single video is returned with its description, channel and tags, and a list without them', async () => {
  await using opened = openDaemonClient(base);
  const video = {
    id: 'vid_1',
    title: 'Clip',
    status: 'ready',
    description: 'd',
    channel_id: 'ch_main',
    tags: ['news'],
  };
  nock(base).get('/videos/vid_1').reply(200, { data: video });
  nock(base)
    .get('/videos')
    .query(true)
    .reply(200, { data: [video], meta: { page: 1, per_page: 100, total: 1 } });
  const host = hostedBy(opened);
  expect(await host.get('vid_1', signal)).toEqual({
    ok: true,
    value: { id: 'vid_1', title: 'Clip', status: 'ready', description: 'd', channel: 'ch_main', tags: ['news'] },
  });
  expect(await host.list(1, signal)).toMatchObject({
    value: { videos: [{ id: 'vid_1', title: 'Clip', status: 'ready' }] },
  });
});

test.for([
  { isMarking: true, marker: [markerOf(someFacts())] },
  { isMarking: false, marker: [] },
])(
  'with service.marker $isMarking, a video is created and changed with the tags $marker',
  async ({ isMarking, marker }) => {
    await using opened = openDaemonClient(base);
    const host = createVideoHost({ ...partsOf(opened.client), isMarking: () => isMarking });
    const sent: unknown[] = [];
    const note = (body: unknown): boolean => sent.push((body as { readonly tags?: unknown }).tags) > 0;
    nock(base)
      .post('/videos', note)
      .reply(201, { id: 'vid_1', upload_url: 'https://u.example.com/1', status: 'pending' });
    nock(base).patch('/videos/vid_1', note).twice().reply(200, {});
    await host.create(someFacts(), 'token', signal);
    await host.amend(someFacts({ videoId: 'vid_1', amendment: { tags: ['other', ...marker] } }), signal);
    await host.amend(someFacts({ videoId: 'vid_1', amendment: { title: 'T' } }), signal);
    expect(sent).toEqual([['news', ...marker], ['other', ...marker], undefined]);
  },
);
