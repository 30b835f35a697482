import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { put, readSample, runSandbox, type Json, type RunningSandbox } from '../sandbox/running-sandbox.ts';
import { validOf } from './arbitraries.ts';
import { schemas } from '../../packages/sandbox/src/contract/document.ts';
import { LibraryModel } from './library-model.ts';

/**
 * Operations to carry out, in runs of up to 200. For a long run: DROPCAST_MODEL_STEPS=20000 npx vitest run test/contract/model
 * DROPCAST_FUZZ_SEED repeats the run that a failure names.
 */
const STEPS = Number(process.env['DROPCAST_MODEL_STEPS'] ?? 1000);
const SEED = Number(process.env['DROPCAST_FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const STEPS_OF_A_RUN = 200;

const steps = new Map<string, number>();
const samples = { good: await readSample('clip.mp4'), bad: Buffer.from('this is no video') };

afterAll(() => {
  const counts = [...steps].map(([name, count]) => `${name} ${count}`).join(', ');
  const total = [...steps.values()].reduce((sum, count) => sum + count, 0);
  console.log(`model: ${total} operations (${counts}), seed ${SEED}`);
});

type Run = (model: LibraryModel, service: RunningSandbox) => Promise<void>;

/** A step that is always possible: an operation on what is not there must be refused as the model says. */
class Step implements fc.AsyncCommand<LibraryModel, RunningSandbox> {
  readonly #name: string;
  readonly #of: unknown;
  readonly run: Run;

  constructor(name: string, of: unknown, run: Run) {
    this.#name = name;
    this.#of = of;
    this.run = async (model, service) => {
      model.nowMs += 1000;
      steps.set(name, (steps.get(name) ?? 0) + 1);
      await run(model, service);
    };
  }

  check(): boolean {
    return true;
  }

  toString(): string {
    return `${this.#name}(${JSON.stringify(this.#of)})`;
  }
}

const step = <T>(name: string, given: fc.Arbitrary<T>, run: (given: T, ...world: Parameters<Run>) => Promise<void>) =>
  given.map((value) => new Step(name, value, (model, service) => run(value, model, service)));

const CHANNELS = ['ch_main', 'ch_news', 'ch_podcast'];
const FEEDS = ['feed_main', 'feed_news', 'feed_podcast', 'feed_tv'];
const known = (name: string) => (name === 'ChannelId' ? CHANNELS : []);
const valid = (name: string) => validOf(schemas[name] ?? {}, known) as fc.Arbitrary<Json>;
/** Not imported ones: those change by themselves. */
const newVideo = valid('NewVideo').map((video: Json): Json => {
  return Object.fromEntries(Object.entries(video).filter(([name]) => name !== 'source_url'));
});

/** One of all videos that there ever were. */
const any = fc.nat();
const chosen = (model: LibraryModel, index: number) =>
  model.everCreated[index % Math.max(1, model.everCreated.length)] ?? { id: 'vid_never', uploadPath: '' };

const filter = fc.record({
  channelId: fc.option(fc.constantFrom(...CHANNELS), { nil: undefined }),
  status: fc.option(fc.constantFrom('processing', 'ready', 'failed'), { nil: undefined }),
});

const commands = [
  step('create', newVideo, async (fields, model, service) => {
    const { status, body } = await service.call('POST', '/videos', fields);
    expect([status, body.status]).toEqual([201, 'pending']);
    expect(model.everCreated.map(({ id }) => id)).not.toContain(body.id);
    model.add({ channel_id: CHANNELS[0], ...fields, id: body.id }, body.upload_url);
  }),
  step('put', fc.tuple(any, fc.constantFrom('good', 'good', 'bad')), async ([index, sample], model, service) => {
    const { id, uploadPath } = chosen(model, index);
    if (uploadPath === '') return;
    const video = model.videos.get(id);
    const { status } = await put(uploadPath, samples[sample]);
    if (!video) return expect(status).toBe(410);
    if (video.status !== 'pending') return expect(status).toBe(409);
    expect(status).toBe(200);
    const { status: end, duration } = sample === 'good' ? READY : FAILED;
    model.videos.set(id, { ...video, status: end, duration });
    expect((await service.ended(id)).status).toBe(end);
  }),
  step('get', any, async (index, model, service) => {
    const { id } = chosen(model, index);
    const video = model.videos.get(id);
    const { status, body } = await service.call('GET', `/videos/${id}`);
    expect(status).toBe(video ? 200 : 404);
    if (video) expect(body.data).toMatchObject(video);
    if (video) expect('error' in body.data).toBe(video.status === 'failed');
  }),
  step('update', fc.tuple(any, valid('VideoChange')), async ([index, change], model, service) => {
    const { id } = chosen(model, index);
    const video = model.videos.get(id);
    const { status, body } = await service.call('PATCH', `/videos/${id}`, change);
    expect(status).toBe(video ? 200 : 404);
    if (!video) return;
    model.videos.set(id, { ...video, ...change });
    expect(body.data).toMatchObject({ ...video, ...change });
  }),
  step('delete', any, async (index, model, service) => {
    const { id } = chosen(model, index);
    const isThere = model.delete(id);
    expect((await service.call('DELETE', `/videos/${id}`)).status).toBe(isThere ? 204 : 404);
  }),
  step('list', fc.tuple(filter, fc.integer({ min: 1, max: 7 })), async ([by, perPage], model, service) => {
    const wanted = model.list(by);
    const query = Object.entries({ channel_id: by.channelId, status: by.status }).flatMap(([name, value]) =>
      value === undefined ? [] : [`&${name}=${value}`],
    );
    for (let page = 1; ; page += 1) {
      const path = `/videos?page=${page}&per_page=${perPage}${query.join('')}`;
      const { data, meta } = (await service.call('GET', path)).body;
      expect(data.map(({ id }: { id: string }) => id)).toEqual(wanted.slice((page - 1) * perPage, page * perPage));
      expect(meta).toEqual({ page, per_page: perPage, total: wanted.length });
      if (data.length === 0) return;
    }
  }),
  step('publish', fc.constantFrom(...FEEDS), async (feedId, model, service) => {
    const { status, body } = await service.call('POST', `/feeds/${feedId}/publish`);
    const items = model.publish(feedId, body.published_at);
    expect([status, body]).toMatchObject([200, { feed_id: feedId, video_count: items.length }]);
  }),
  step('list feeds', fc.constant(undefined), async (_given, model, service) => {
    const { data } = (await service.call('GET', '/feeds')).body;
    const times = Object.fromEntries(data.map((feed: Json) => [feed.id, feed.last_published_at]));
    expect(times).toEqual(Object.fromEntries([...model.feeds].map(([id, feed]) => [id, feed.last_published_at])));
    for (const { id, url } of data) {
      const { document, changedAtMs } = await documentAt(url);
      expect(idsIn(document)).toEqual(new Set(model.feeds.get(id)?.items));
      expect([id, changedAtMs]).toEqual([id, model.feeds.get(id)?.changedAtMs]);
    }
  }),
  step(
    'update channel',
    fc.tuple(fc.constantFrom(...CHANNELS), valid('ChannelChange')),
    async ([id, change], model, service) => {
      const channel = { ...model.channels.get(id), ...change };
      const { status, body } = await service.call('PATCH', `/channels/${id}`, change);
      model.channels.set(id, channel);
      expect([status, body.data]).toMatchObject([200, JSON.parse(JSON.stringify(channel))]);
    },
  ),
  step('list channels', fc.constant(undefined), async (_given, model, service) => {
    const { data } = (await service.call('GET', '/channels')).body;
    const facts = data.map(({ id, name, video_count }: Json) => [id, name, video_count]);
    const wanted = [...model.channels].map(([id, { name }]) => [id, name, model.list({ channelId: id }).length]);
    expect(facts).toEqual(wanted);
  }),
  step('analytics', any, async (index, model, service) => {
    const { id } = chosen(model, index);
    const { status, body } = await service.call('GET', `/analytics/videos?video_id=${id}`);
    expect(status).toBe(model.videos.has(id) ? 200 : 404);
    if (status === 200) expect(body.data).toMatchObject({ video_id: id, views: 0, completion_rate: 0 });
    const { meta } = (await service.call('GET', '/analytics/videos?per_page=1')).body;
    expect(meta.total).toBe(model.videos.size);
  }),
];

const READY = { status: 'ready', duration: 4 } as const;
const FAILED = { status: 'failed', duration: null } as const;

/** A feed, and since when it is as it is; null for one that was never published. */
async function documentAt(url: string): Promise<{ document: string; changedAtMs: number | null }> {
  const response = await fetch(url);
  const since = response.headers.get('last-modified');
  return { document: await response.text(), changedAtMs: since === null ? null : Date.parse(since) };
}

/** The videos that a feed's document names, whatever its form. */
function idsIn(document: string): Set<string> {
  return new Set(document.match(/vid_[0-9a-z]{16}/g));
}

test(
  'after any operations the account is as the model says',
  async () => {
    const runs = Math.ceil((2 * STEPS) / STEPS_OF_A_RUN); // a run has half of its greatest length on average
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: STEPS_OF_A_RUN, size: 'max' }), async (run) => {
        const clock = { nowMs: () => 0 };
        const options = { requestsPerHour: 1_000_000, processingMs: { min: 0, max: 0 }, nowMs: () => clock.nowMs() };
        await using service = await runSandbox(options);
        const channels = (await service.call('GET', '/channels')).body.data;
        const feeds = (await service.call('GET', '/feeds')).body.data;
        const model = new LibraryModel(channels, feeds);
        clock.nowMs = () => model.nowMs;
        await fc.asyncModelRun(() => ({ model, real: service }), run);
      }),
      { numRuns: runs, seed: SEED },
    );
  },
  30_000 + STEPS * 100,
);
