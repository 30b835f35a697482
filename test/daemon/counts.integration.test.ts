import { describe, expect, test } from 'vitest';
import { noPauses } from './no-pauses.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { filesOf } from '../../src/view/files/files-view.ts';
import { createPictures, pictureWithoutDaemon } from '../../src/view/picture/take-picture.ts';
import { systemClock } from '../../src/daemon/daemon.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { everyState, statesOfRows } from '../ledger/every-state.ts';
import { created, someFacts, uploaded } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const rows = everyState();
const tally = (states: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(states, (state) => state)].map(([state, those]) => [state, those.length]));

/** A daemon whose steps work on these rows. */
function working(ids: readonly string[]): Daemon {
  const known = tally(rows.map(stateOf));
  const accounts = { seen: rows.length, settling: 0, comparing: 0, known, sidecars: 0, ignored: 0, refused: 0 };
  const folder = {
    path: rows[0]?.folder,
    state: 'watching',
    why: null,
    lone_sidecars: { files: 0, first: [] },
    left_out: { files: 0, media: 0, extensions: [], paths: [] },
    accounts: { ...accounts, unaccounted: 0 },
  };
  return {
    waits: () => [],
    pauses: noPauses,
    expectations: { list: () => [] },
    messageTargets: { deaf: () => [] },
    fleet: null,
    conductor: {
      pauses: noPauses,
      pause: () => null,
      comparison: () => null,
      createsWaitUntil: () => null,
      createsPauses: () => [],
      names: { unknown: () => [] },
      feedsWaiting: () => [],
      pollTrouble: () => null,
      noSlot: () => null,
      uploads: () => [],
      quotaRoom: () => null,
      pace: () => ({ bytesPerSecond: null, processingMs: null, latePoll: null, slots: 4 }),
      unconfirmedCreates: () => [],
      nextPollAt: () => null,
    },
    rows: { isHeld: (id: string) => ids.includes(id), held: () => ids },
    gate: {
      snapshot: () => ({
        used: 1,
        limit: 2,
        blockedUntil: 0,
        total: 3,
        others: 0,
        waiting: 0,
        blockedMs: 0,
        reported: null,
        left: 1,
        frees: [],
      }),
    },
    folders: { settling: () => [], countSettling: () => 0, status: () => [folder] },
    times: { startAt: () => null, limit: () => null, limitUntil: () => null, mayStart: () => true, later: () => [] },
    config: () => ({
      file: 'dropcast.yaml',
      uploads: { concurrency: 4 },
      poll: { intervalMs: 1 },
      publish: { quietMs: 1, atMostMs: 1 },
      folders: [],
    }),
  } as unknown as Daemon;
}

function pictureOf(ledger: Ledger, daemon: Daemon | null) {
  if (daemon === null) return pictureWithoutDaemon(ledger);
  const take = createPictures({ ...daemon, ledger }, { events: { listen: () => () => true }, clock: systemClock });
  return take({ isFresh: true });
}

describe('the counts of status agree with the rows that ls shows', () => {
  test.each([
    ['while no daemon runs', null],
    ['while no step works', []],
    ['while a step works on one of each state', rows.map(({ id }) => id)],
    ['while a step works on some', rows.filter((_, n) => n % 2 === 0).map(({ id }) => id)],
  ])('%s', async (_when, held) => {
    await using scratch = await scratchDirectory();
    await using ledger = await openLedger(scratch.path);
    for (const facts of rows) await ledger.insert(facts);
    const daemon = held === null ? null : working(held);
    const { files } = await filesOf(ledger, daemon, { selection: {}, range: { limit: 1_000 } });
    const shown = tally(files.map(({ state }) => state));
    const status = await pictureOf(ledger, daemon);
    const { 'not put away': _, ...counts } = status.counts;
    expect(counts).toEqual(shown);
    for (const { id, state } of [...status.working, ...status.needing])
      expect(state).toBe(files.find((file) => file.id === id)?.state);
    for (const [state, count] of Object.entries(shown)) {
      const { files: those } = await filesOf(ledger, daemon, {
        selection: { states: [state] },
        range: { limit: 1_000 },
      });
      expect(those).toHaveLength(count);
    }
    expect(shown).toEqual(tally(statesWith(held ?? [])));
    if (daemon === null) return;
    expect(status.accounts).toMatchObject({ seen: rows.length, known: shown });
    expect(status.folders[0]?.accounts.known).toEqual(shown);
  });
});

/** As a person is told them. */
function statesWith(held: readonly string[]): readonly string[] {
  const stepOf: Readonly<Record<string, string>> = { queued: 'creating', 'awaiting upload': 'uploading' };
  return rows.map((facts) => {
    const state = stateOf(facts);
    return held.includes(facts.id) ? (stepOf[state] ?? state) : state;
  });
}

test('every state of a row is among them', () => {
  expect(statesOfRows.size).toBe(11);
});

test.each([
  ['ends', ['f_1', 'f_2', 'f_3'], []],
  ['begins', [], ['f_1', 'f_2', 'f_3']],
  ['is another one', ['f_1'], ['f_2', 'f_3']],
])('the counts of status agree with its rows when a step %s while it is put together', async (_what, first, then) => {
  await using scratch = await scratchDirectory();
  await using ledger = await openLedger(scratch.path);
  const stages = [{}, { ...created, videoId: 'vid_2' }, { ...created, videoId: 'vid_3' }, uploaded];
  for (const [n, stage] of stages.entries())
    await ledger.insert(someFacts({ ...stage, id: `f_${n + 1}`, path: `${n}.mp4` }));
  let held: readonly string[] = first;
  const daemon = working([]);
  const heldOnce = (): readonly string[] => {
    const now = held;
    held = then;
    return now;
  };
  Object.assign(daemon, { rows: { held: heldOnce, isHeld: (id: string) => held.includes(id) } });
  const status = await pictureOf(ledger, daemon);
  expect(tally(status.working.map(({ state }) => state))).toEqual(status.counts);
});
