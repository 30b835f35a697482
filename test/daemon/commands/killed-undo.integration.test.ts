import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openReceipts } from '../../../src/ledger/receipts.ts';
import type { ConductorWorld } from '../../../src/pipeline/conductor.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { FakeHost } from '../../pipeline/fake-host.ts';
import { rowsOf } from '../../pipeline/held-rows.ts';
import { minute, outside, someLocal, startCore } from '../../pipeline/running-core.ts';
import { failure, ready, someFacts, someVersion } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

/** Finished uploads: two to take back, one edited since, one whose local copy is gone, one deleted on the service, one not listed. */
const names = ['a', 'b', 'edited', 'lost', 'deleted', 'other'] as const;
const listed = names.filter((name) => name !== 'other');

const rowOf = (id: string, n: number): Facts =>
  someFacts({
    ...ready,
    id,
    path: `${id}.mp4`,
    version: { ...someVersion, ino: `${n}`, size: 1_000 + n },
    videoId: `v_${id}`,
    sha256: id,
    end: 'done',
    endedAt: 5,
    published: { feed_news: 5 },
    disposal: 'kept',
  });

function serviceWith(videos: FakeHost['videos']): FakeHost {
  const service = new FakeHost();
  for (const [id, video] of videos) service.videos.set(id, { ...video });
  return service;
}

function someVideos(): FakeHost['videos'] {
  const titleOf = (name: string): string => (name === 'edited' ? 'Corrected' : 'Clip');
  const there = names.filter((name) => name !== 'deleted');
  return new Map(there.map((name) => [`v_${name}`, { title: titleOf(name), status: 'ready' }]));
}

const local: ConductorWorld['local'] = {
  ...someLocal,
  hash: async ({ id }) => (id === 'lost' ? { ok: false, failure: failure('vanished') } : { ok: true, value: id }),
};

interface Killed {
  /** The step before or after which the process was killed. */
  readonly at: string;
  readonly stateDir: string;
  readonly videos: FakeHost['videos'];
}

/** A daemon that continues after each moment of a kill, and leaves there what a kill would leave. */
async function lifeOf(
  stateDir: string,
  service: FakeHost,
  killed: (at: string) => void,
): Promise<{ readonly world: Partial<ConductorWorld>; readonly store: Ledger } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const ledger = stack.use(await openLedger(stateDir));
  const receipts = stack.use(await openReceipts(stateDir));
  const around = <T extends object>(port: T, method: keyof T & string): void => {
    const usual = port[method] as (...values: unknown[]) => Promise<unknown>;
    const watched = async (...values: unknown[]): Promise<unknown> => {
      const what = method === 'saveNote' ? `${method} ${String(values[0])}` : method;
      killed(`before ${what}`);
      const result = await Reflect.apply(usual, port, values);
      killed(`after ${what}`);
      return result;
    };
    Object.defineProperty(port, method, { value: watched });
  };
  const store = Object.create(ledger) as Ledger;
  for (const method of ['save', 'saveNote', 'noteFeedDue', 'noteFeedAnswer'] as const) around(store, method);
  for (const method of ['remove', 'status'] as const) around(service.host, method);
  for (const method of ['get', 'publish'] as const) around(service.library, method);
  const kept = { append: receipts.append };
  around(kept, 'append');
  const life = stack.move();
  return {
    world: { store, rows: rowsOf(store), local, receipts: kept },
    store,
    [Symbol.asyncDispose]: () => life.disposeAsync(),
  };
}

/** Runs until nothing is left to take back and to publish. */
async function liveOn(
  stateDir: string,
  service: FakeHost,
  killed: (at: string) => void = () => undefined,
  begins = false,
) {
  await using life = await lifeOf(stateDir, service, killed);
  const core = startCore({ ...outside([]), service }, life.world);
  const { takeBack } = core.conductor;
  if (begins)
    await takeBack.start(
      listed.map((id) => [id, `v_${id}`] as const),
      'root',
    );
  const isIdle = async () =>
    (await takeBack.progress())?.ended_at !== null && (await life.store.feedsDue()).length === 0;
  await core.until(isIdle);
  await core.pass(minute);
  const progress = await takeBack.progress();
  await core.stop();
  const rows = await life.store.rows({ group: 'any' });
  const states = rows.map(({ id, end, why, videoId, dying, published }) => [
    id,
    end,
    why,
    videoId,
    dying,
    Object.keys(published),
  ]);
  const { at: _at, ended_at: _endedAt, ...said } = progress ?? { at: 0, ended_at: 0 };
  return { states, said, videos: [...service.videos.keys()].toSorted() };
}

test('after a kill at any write and any request of an undo, a restart comes to the same end, and deletes nothing else', async () => {
  await using scratch = await scratchDirectory();
  const stateDir = join(scratch.path, 'state');
  mkdirSync(stateDir, { mode: 0o700 });
  {
    await using ledger = await openLedger(stateDir);
    for (const [n, name] of names.entries()) await ledger.insert(rowOf(name, n));
  }
  const service = serviceWith(someVideos());
  const moments: Killed[] = [];
  const killed = (at: string): void => {
    const image = join(scratch.path, `image-${moments.length}`);
    mkdirSync(image, { mode: 0o700 });
    for (const name of readdirSync(stateDir)) copyFileSync(join(stateDir, name), join(image, name));
    moments.push({ at, stateDir: image, videos: serviceWith(service.videos).videos });
  };
  const undisturbed = await liveOn(stateDir, service, killed, true);
  expect(undisturbed.videos).toEqual(['v_edited', 'v_lost', 'v_other']);
  expect(undisturbed.said).toMatchObject({ files: 5, taken: 3, left: 0, kept: [{ id: 'edited' }, { id: 'lost' }] });
  expect(undisturbed.states.map(([id, end]) => [id, end].join(' '))).toEqual([
    'a skipped',
    'b skipped',
    'edited done',
    'lost done',
    'deleted skipped',
    'other done',
  ]);
  const kinds = new Set(moments.map(({ at }) => at));
  expect([...kinds].filter((at) => at.startsWith('after')).toSorted()).toEqual(
    ['append', 'get', 'noteFeedAnswer', 'noteFeedDue', 'publish', 'remove', 'save', 'saveNote undo:', 'status'].map(
      (at) => `after ${at}`,
    ),
  );
  const begun = moments.findIndex(({ at }) => at === 'after saveNote undo:');
  for (const { at, stateDir: image, videos } of moments.slice(begun)) {
    const ended = await liveOn(image, serviceWith(videos));
    expect({ at, ...ended }).toEqual({ at, ...undisturbed });
  }
  // An older copy of the ledger is restored: the receipts say what was taken back, and nothing is uploaded again.
  const restored = join(scratch.path, 'restored');
  mkdirSync(restored, { mode: 0o700 });
  for (const name of readdirSync(moments[0]?.stateDir ?? ''))
    copyFileSync(join(moments[0]?.stateDir ?? '', name), join(restored, name));
  copyFileSync(join(stateDir, 'receipts.jsonl'), join(restored, 'receipts.jsonl'));
  const later = serviceWith(service.videos);
  const { states } = await liveOn(restored, later);
  expect([states, later.count('create')]).toEqual([undisturbed.states, 0]);
  // Killed before the run was noted: the command has not answered, and nothing has happened.
  for (const { stateDir: image, videos } of moments.slice(0, begun)) {
    await using ledger = await openLedger(image);
    expect([await ledger.count({ states: ['done'] }), videos.size]).toEqual([6, 5]);
  }
});
