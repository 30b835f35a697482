import { rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Answer, ListedPage, VideoLibrary } from '../../../src/pipeline/file/ports.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { markerOf } from '../../../src/pipeline/file/marker.ts';
import { newAudit } from '../../../src/pipeline/rounds/audit.ts';
import { failure } from '../some-facts.ts';
import { auditedWorld, begin, everything, foundIn, madeVideo, quick, run, runOf } from './audited-world.ts';
import type { AuditedWorld } from './audited-world.ts';

/** A desk on which everything has happened that an audit finds. */
async function troubledDesk(world: AuditedWorld): Promise<void> {
  const { service, done, scratch } = world;
  await done('fine');
  const gone = await done('gone');
  await service.call('DELETE', `/videos/${gone.videoId}`);
  const edited = await done('edited');
  await service.call('PATCH', `/videos/${edited.videoId}`, { description: 'by hand', tags: ['news', 'live'] });
  const renamed = await done('renamed');
  await service.call('PATCH', `/videos/${renamed.videoId}`, { title: 'by hand' });
  await done('doubled');
  await madeVideo(service, { title: 'doubled' });
  await madeVideo(service, { title: 'doubled', duration: 90 });
  await madeVideo(service, { title: 'of others', channel_id: 'ch_rivals' });
  await done('changed');
  await writeFile(scratch.file('inbox', 'changed.mp4'), 'something else of another length');
  await done('missing');
  await rm(scratch.file('inbox', 'missing.mp4'));
  const first = await done('twin-a');
  await done('twin-b', { sha256: first.sha256, version: { ...first.version, ino: '1' } });
  await done('failed', { made: { failure: { code: 'damaged', message: 'it is damaged' } } });
}

const ofDesk = {
  gone: { gone: expect.any(String) },
  unready: { failed: 'failed' },
  edited: { edited: 'description, tags', renamed: 'title' },
  doubled: {
    doubled: expect.stringMatching(/^perhaps vid_\w+: same title and duration$/),
    'twin-a': expect.stringMatching(/^same content as vid_\w+ \(twin-b\.mp4\)$/),
    'twin-b': expect.stringMatching(/^same content as vid_\w+ \(twin-a\.mp4\)$/),
  },
  deletable: { fine: null, edited: null, renamed: null, doubled: null, 'twin-a': null },
  changed: { changed: expect.any(String), 'twin-b': expect.any(String) },
  missing: { missing: null },
};

test('an audit finds what is gone, edited, doubled, unknown, changed, and what may be deleted', async () => {
  await using world = await auditedWorld();
  await troubledDesk(world);
  await begin(world.ledger, everything);
  await run(world.audit());
  expect(await foundIn(world.ledger)).toEqual(ofDesk);
  const { unknown, step, examined, bytesRead } = await runOf(world.ledger);
  expect({ step, examined }).toEqual({ step: 'ended', examined: 10 });
  expect(bytesRead).toBe(
    5 * 'content of '.length + 'fine'.length + 'edited'.length + 'renamed'.length + 'doubled'.length + 'twin-a'.length,
  );
  expect(unknown).toMatchObject({
    count: 3,
    channels: [
      { channel: 'ch_news', videos: 2 },
      { channel: 'ch_rivals', videos: 1 },
    ],
  });
});

test('a quick audit asks by id only about videos that the list does not show, and reads no file', async () => {
  await using world = await auditedWorld();
  await troubledDesk(world);
  await begin(world.ledger, quick);
  const asked: string[] = [];
  const get: VideoLibrary['get'] = (id, signal) => {
    asked.push(id);
    return world.library.get(id, signal);
  };
  await run(world.audit({ library: { ...world.library, get } }));
  const gone = (await world.ledger.load('gone'))?.videoId;
  expect(asked).toEqual([gone]);
  const { gone: ids, doubled } = ofDesk;
  expect(await foundIn(world.ledger)).toEqual({
    gone: ids,
    doubled,
    edited: { renamed: 'title' },
    unready: { failed: 'failed' },
  });
});

test('an audit changes nothing on the service, and counts each request that it sends', async () => {
  await using world = await auditedWorld();
  await troubledDesk(world);
  await begin(world.ledger, everything);
  const before = world.service.sandbox.requests().length;
  await run(world.audit());
  const requests = world.service.sandbox.requests().slice(before);
  expect(new Set(requests.map(({ operation }) => operation))).toEqual(
    new Set(['channels.list', 'videos.list', 'videos.get']),
  );
  expect(requests.length).toBe((await runOf(world.ledger)).requests);
});

test('an audit sends nothing while it may not spend, and ends once it may', async () => {
  await using world = await auditedWorld();
  await troubledDesk(world);
  await begin(world.ledger, everything);
  let allowed = 0;
  const before = world.service.sandbox.requests().length;
  // Every other time there is no room.
  const waits = await run(world.audit({ maySpend: async () => (allowed += 1) % 2 === 0 }));
  // One question is followed at once by another request: whether a 404 concerns only its video.
  expect(waits).toBe(world.service.sandbox.requests().length - before - 1);
  expect(await foundIn(world.ledger)).toEqual(ofDesk);
});

/** An answer to a list request that leaves everything out. */
const noList: Answer<ListedPage> = { ok: true, value: { videos: [], perPage: 100, total: 0 } };

test.for<[string, (list: VideoLibrary['list']) => VideoLibrary['list']]>([
  ['lists nothing', () => async () => noList],
  [
    'says a total that is too small',
    (list) =>
      async (...asked) =>
        withTotal(await list(...asked), 1),
  ],
  [
    'says a total that is far too large',
    (list) =>
      async (...asked) =>
        withTotal(await list(...asked), 1_000_000),
  ],
  [
    'says no total',
    (list) =>
      async (...asked) =>
        withTotal(await list(...asked), null),
  ],
  ['repeats a full page for ever', (list) => (page, signal, channel) => list(Math.min(page, 2), signal, channel)],
  ['ignores the channel', (list) => (page, signal) => list(page, signal)],
])('nothing is called gone because a service %s', async ([name, lie]) => {
  await using world = await auditedWorld();
  await troubledDesk(world);
  await begin(world.ledger, everything);
  await run(world.audit({ library: { ...world.library, list: lie(inPages(world.library.list)) } }));
  const { doubled, ...others } = await foundIn(world.ledger);
  const { doubled: isDoubled, ...expected } = ofDesk;
  expect(others).toEqual(expected);
  const { unknown } = await runOf(world.ledger);
  const { doubled: _, ...twins } = isDoubled;
  expect(doubled).toEqual(name === 'lists nothing' ? twins : isDoubled);
  expect(unknown?.count).toBe(name === 'lists nothing' ? 0 : 3);
  if (name === 'ignores the channel') expect(unknown?.channels).toEqual([{ channel: null, videos: 3 }]);
});

/** Number of videos per page: so few that lists have several pages, the second of which is full. */
const perPage = 5;

function inPages(list: VideoLibrary['list']): VideoLibrary['list'] {
  return async (page, signal, channel) => {
    const answer = await list(1, signal, channel);
    if (!answer.ok) return answer;
    const videos = answer.value.videos.slice((page - 1) * perPage, page * perPage);
    return { ok: true, value: { ...answer.value, videos, perPage } };
  };
}

function withTotal(answer: Answer<ListedPage>, total: number | null): Answer<ListedPage> {
  return answer.ok ? { ok: true, value: { ...answer.value, total } } : answer;
}

test.for([
  ['offline', failure('offline')],
  ['500 midway', failure('transient', { status: 500 })],
  ['a web page midway', failure('transient', { code: 'web_page' })],
  ['429', failure('throttled')],
] as const)('an audit continues where it was after %s', async ([, trouble]) => {
  await using world = await auditedWorld();
  await troubledDesk(world);
  await begin(world.ledger, everything);
  let calls = 0;
  // Each second request fails, which is never often enough to give up on a video.
  const fails = () => (calls += 1) % 2 === 0;
  const refused = { ok: false, failure: trouble } as const;
  const audit = world.audit({
    library: {
      names: (...asked) => (fails() ? Promise.resolve(refused) : world.library.names(...asked)),
      list: (...asked) => (fails() ? Promise.resolve(refused) : world.library.list(...asked)),
      get: (...asked) => (fails() ? Promise.resolve(refused) : world.library.get(...asked)),
      probe: world.library.probe,
    },
  });
  expect(await run(audit)).toBeGreaterThan(0);
  expect(await foundIn(world.ledger)).toEqual(ofDesk);
});

test('a video about which the service never answers is named, and no local copy of it is offered', async () => {
  await using world = await auditedWorld();
  const stubborn = await world.done('stubborn');
  await world.done('fine');
  await begin(world.ledger, everything);
  const get: VideoLibrary['get'] = async (id, signal) =>
    id === stubborn.videoId ? { ok: false, failure: failure('permanent') } : world.library.get(id, signal);
  expect(await run(world.audit({ library: { ...world.library, get } }))).toBe(2);
  expect(await foundIn(world.ledger)).toEqual({
    unanswered: { stubborn: 'it was permanent' },
    deletable: { fine: null },
  });
});

test('nothing is called gone while the service answers 404 to everything', async () => {
  await using world = await auditedWorld();
  await troubledDesk(world);
  await begin(world.ledger, everything);
  let isBroken = false;
  const lost = { ok: false, failure: failure('gone') } as const;
  const audit = world.audit({
    library: {
      ...world.library,
      // The list was read before it broke.
      get: async (...asked) => (isBroken ? lost : world.library.get(...asked)),
      probe: async (...asked) => (isBroken ? lost : world.library.probe(...asked)),
    },
  });
  const { signal } = new AbortController();
  while ((await runOf(world.ledger)).step === 'list') await audit.step(signal);
  isBroken = true;
  for (let steps = 0; steps < 10; steps += 1) expect(await audit.step(signal)).toBe('wait');
  expect(await foundIn(world.ledger)).toEqual({});
  isBroken = false;
  await run(audit);
  expect(await foundIn(world.ledger)).toEqual(ofDesk);
});

test('each audit examines its own files, also those that were done after the one before', async () => {
  await using world = await auditedWorld();
  await world.done('first');
  await begin(world.ledger, everything);
  const audit = world.audit();
  await run(audit);
  await world.done('second');
  await world.ledger.beginAudit(newAudit(everything, 'a test', 2, 2));
  await run(audit);
  expect(await foundIn(world.ledger)).toEqual({ deletable: { first: null, second: null } });
});

test.for<[string, (facts: Facts) => Partial<Facts>]>([
  // With `on_change: ignore`, a row takes over the version without a look at the content.
  ['changed on disk', ({ version }) => ({ version: { ...version, mtimeNs: '7' } })],
  ['written by a tool that restored its time', ({ version }) => ({ version: { ...version, ctimeNs: '7' } })],
  ['uploaded again', () => ({ videoId: 'vid_other' })],
])('a file that was %s since the audit may not be deleted', async ([, change]) => {
  await using world = await auditedWorld();
  const facts = await world.done('fine');
  await begin(world.ledger, everything);
  await run(world.audit());
  await world.ledger.save({ ...facts, ...change(facts) });
  expect(await foundIn(world.ledger)).toEqual({ deletable: {} });
});

test('a file with the size and time that were uploaded, but other content, may not be deleted', async () => {
  await using world = await auditedWorld();
  await world.done('bitrot', { sha256: 'ab'.repeat(32) });
  await begin(world.ledger, everything);
  await run(world.audit());
  expect(await foundIn(world.ledger)).toEqual({ changed: { bitrot: 'its content differs from what was uploaded' } });
});

test('a file without a known hash, and one that cannot be read here, are not offered', async () => {
  await using world = await auditedWorld();
  await world.done('adopted', { sha256: null });
  await world.done('elsewhere', { folder: 'ingest2:/srv/in' });
  await begin(world.ledger, everything);
  await run(world.audit());
  const { unread, deletable } = await foundIn(world.ledger);
  expect(deletable).toBeUndefined();
  expect(unread ?? {}).toHaveProperty('adopted');
});

test('the marker shows for certain that a video is a second one of the same file, and is no edit', async () => {
  await using world = await auditedWorld();
  const marked = await world.done('marked', { isMarked: true });
  const copy = await madeVideo(world.service, { title: 'marked', tags: ['news', markerOf(marked)] });
  await begin(world.ledger, everything);
  const before = world.service.sandbox.requests().length;
  await run(world.audit());
  expect(await foundIn(world.ledger)).toEqual({
    doubled: { marked: `${copy} has the same marker` },
    deletable: { marked: null },
  });
  expect((await runOf(world.ledger)).requests).toBe(world.service.sandbox.requests().length - before);
});

test('an audit that is stopped writes nothing more', async () => {
  await using world = await auditedWorld();
  await troubledDesk(world);
  await begin(world.ledger, everything);
  const { signal } = new AbortController();
  const audit = world.audit({
    library: {
      ...world.library,
      get: async (...asked) => {
        await world.ledger.saveNote('audit', { ...(await runOf(world.ledger)), step: 'stopped', endedAt: 7 });
        return world.library.get(...asked);
      },
    },
  });
  let step = await audit.step(signal);
  while (step === 'again') step = await audit.step(signal);
  expect(await runOf(world.ledger)).toMatchObject({ step: 'stopped', endedAt: 7, examined: 0 });
});

test('killed at each write and started again, an audit finds the same with two requests more', async () => {
  await using world = await auditedWorld();
  await troubledDesk(world);
  await begin(world.ledger, everything);
  let writes = 0;
  await run(world.audit({ store: counted(world, (moment) => void (writes += moment === 'before' ? 1 : 0)) }));
  const undisturbed = { found: await foundIn(world.ledger), run: await runOf(world.ledger) };
  expect(writes).toBeGreaterThan(12);
  for (const when of ['before', 'after'] as const)
    for (let at = 1; at <= writes; at += 1) {
      await begin(world.ledger, everything);
      const sent = world.service.sandbox.requests().length;
      let left = at;
      const dying = counted(world, (moment) => {
        if (moment === when && (left -= 1) === 0) throw new Error('killed');
      });
      await expect(run(world.audit({ store: dying }))).rejects.toThrow('killed');
      await run(world.audit());
      const requests = world.service.sandbox.requests().length - sent;
      expect(requests).toBeLessThanOrEqual(undisturbed.run.requests + 2);
      expect(await foundIn(world.ledger)).toEqual(undisturbed.found);
      const { requests: _, bytesRead: __, ...others } = undisturbed.run;
      expect(await runOf(world.ledger)).toMatchObject(others);
    }
}, 60_000);

/** The ledger, with a hook around each durable write of an audit. */
function counted({ ledger }: AuditedWorld, happens: (moment: 'before' | 'after') => void): AuditedWorld['ledger'] {
  const around = async (write: () => Promise<void>): Promise<void> => {
    happens('before');
    await write();
    happens('after');
  };
  return {
    ...ledger,
    addAudited: (...asked) => around(() => ledger.addAudited(...asked)),
    addFindings: (...asked) => around(() => ledger.addFindings(...asked)),
  };
}
