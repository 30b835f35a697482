import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pace } from '../../src/pipeline/estimate.ts';
import type { Line, Place } from '../../src/pipeline/file/queue.ts';
import { createTurns } from '../../src/pipeline/steps/turns.ts';
import { filesAhead, startsInMs, uploadedInMs } from '../../src/pipeline/turn-estimate.ts';

const MB = 1_000_000;
const minute = 60_000;
const pace: Pace = {
  bytesPerSecond: 10 * MB,
  bandwidth: null,
  mayStart: true,
  later: [],
  slots: 2,
  room: { limit: 1_000, left: 1_000, closedMs: 0, frees: [] },
  processingMs: minute,
  pollMs: 15_000,
  latePoll: null,
  quietMs: 10_000,
  atMostMs: 120_000,
};

describe('an upload is done', () => {
  const half = { bytesLeft: 600 * MB, bytesPerSecond: 5 * MB };
  test.for<[string, typeof half | { bytesLeft: number; bytesPerSecond: null }, Partial<Pace>, number | null]>([
    ['at its own speed', half, {}, 2 * minute],
    [
      'later, when the timetable gets slower: it keeps its share',
      half,
      { later: [{ inMs: minute, bandwidth: MB, mayStart: true }] },
      11 * minute,
    ],
    [
      'at the same time, when the window closes',
      half,
      { later: [{ inMs: 1, bandwidth: null, mayStart: false }] },
      2 * minute,
    ],
    ['at once, when all is sent', { bytesLeft: 0, bytesPerSecond: null }, {}, 0],
    ['nobody knows when, in the first second', { ...half, bytesPerSecond: null }, {}, null],
    ['nobody knows when, while it stalls', { ...half, bytesPerSecond: 0 }, {}, null],
    ['nobody knows when, at a speed of years', { ...half, bytesPerSecond: 1e-9 }, {}, null],
  ])('%s', ([, upload, other, ms]) => {
    expect(uploadedInMs(upload, { ...pace, ...other })).toBe(ms);
  });
});

describe('a file that waits starts', () => {
  const none = { creates: 0, files: 0, bytes: 0 };
  /** Each at half of the speed: a minute, and three. */
  const busy = [
    { bytesLeft: 300 * MB, bytesPerSecond: 5 * MB },
    { bytesLeft: 900 * MB, bytesPerSecond: 5 * MB },
  ];
  const closed = { mayStart: false, later: [{ inMs: 60 * minute, bandwidth: null, mayStart: true }] };
  test.for<[string, typeof none, typeof busy, Partial<Pace>, number | null]>([
    ['when the first upload is done', none, busy, {}, minute],
    ['after the one before it', { ...none, files: 1, bytes: 300 * MB }, busy, {}, 2 * minute],
    ['after all before it', { ...none, files: 3, bytes: 900 * MB }, busy, {}, 3 * minute],
    ['after thousands', { ...none, files: 5_000, bytes: 5_000 * 60 * MB }, busy, {}, (300_000 + 1_200) * 100],
    ['at once, when a slot is free', none, busy.slice(1), {}, 0],
    ['when the window opens', none, [], closed, 60 * minute],
    [
      'when the window opens, although the speed is not known',
      none,
      [],
      { ...closed, bytesPerSecond: null },
      60 * minute,
    ],
    ['after those before it, once the window opens', { ...none, files: 2, bytes: 600 * MB }, [], closed, 61 * minute],
    [
      'when the budget has room for its record and those before it',
      { ...none, creates: 5 },
      [],
      { room: { ...pace.room, left: 3, frees: [[30 * minute, 9]] } },
      30 * minute,
    ],
    ['when the service asks again', { ...none, creates: 1 }, [], { room: { ...pace.room, closedMs: 5_000 } }, 5_000],
    [
      'nobody knows when, before anything was measured',
      { ...none, files: 1, bytes: MB },
      [],
      { bytesPerSecond: null, slots: 1 },
      null,
    ],
  ])('%s', ([, ahead, uploads, other, ms]) => {
    const at = startsInMs(ahead, uploads, { ...pace, ...other });
    expect(at === null ? null : Math.round(at)).toBe(ms);
  });

  test('nobody knows when, while what is before it stalls', () => {
    const stalled = busy.map((upload) => ({ ...upload, bytesPerSecond: 0 }));
    expect(startsInMs(none, stalled, { ...pace, bytesPerSecond: 0 })).toBeNull();
  });

  test('never at a time that is no number', () => {
    const speed = fc.option(fc.constantFrom(0, 1e-9, 1, 5 * MB, 1e15));
    const upload = fc.record({ bytesLeft: fc.nat(), bytesPerSecond: speed });
    const ahead = fc.record({ creates: fc.nat(3_000), files: fc.nat(3_000), bytes: fc.nat() });
    fc.assert(
      fc.property(ahead, fc.array(upload, { maxLength: 4 }), speed, (before, uploads, bytesPerSecond) => {
        const at = startsInMs(before, uploads, { ...pace, bytesPerSecond });
        if (at !== null) expect(at).toBeGreaterThanOrEqual(0);
        for (const one of uploads) expect(uploadedInMs(one, pace) ?? 0).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('files ahead of one', () => {
  const line = (other: Partial<Line>): Line => ({
    state: 'queued',
    priority: 'normal',
    isBig: false,
    folder: '/a',
    files: 10,
    bytes: 10 * MB,
    ...other,
  });
  const place: Place = { state: 'queued', priority: 'normal', isBig: false, folder: '/a', before: 3 };

  test('are those of its own queue', () => {
    expect(filesAhead(place, [line({})])).toEqual({ creates: 4, files: 3, bytes: 3 * MB });
  });

  test('are all that have a record, when it has none', () => {
    const awaiting = line({ state: 'awaiting upload', folder: '/b', files: 4, bytes: 40 * MB });
    expect(filesAhead(place, [line({}), awaiting])).toEqual({ creates: 4, files: 7, bytes: 43 * MB });
    expect(filesAhead({ ...place, state: 'awaiting upload' }, [line({}), line({ state: 'awaiting upload' })])).toEqual({
      creates: 0,
      files: 3,
      bytes: 3 * MB,
    });
  });

  // The turns themselves are asked: how many start before it?
  test('are about as many as those whose turn comes first', () => {
    const some = fc.record({
      priority: fc.constantFrom('high' as const, 'normal' as const, 'low' as const),
      isBig: fc.boolean(),
      folder: fc.constantFrom('/a', '/b', '/c'),
      files: fc.integer({ min: 1, max: 60 }),
    });
    const lines = fc.uniqueArray(some, {
      minLength: 1,
      maxLength: 6,
      selector: ({ priority, isBig, folder }) => `${priority} ${isBig} ${folder}`,
    });
    fc.assert(
      fc.property(lines, fc.nat(), (all, seed) => {
        const own = all[seed % all.length];
        if (own === undefined) return;
        const before = seed % own.files;
        const estimated = filesAhead(
          { ...own, state: 'queued', before },
          all.map((one) => line(one)),
        ).files;
        expect(Math.abs(estimated - startsBefore(all, own, before))).toBeLessThanOrEqual(12 + 0.4 * estimated);
      }),
    );
  });
});

type Kind = Pick<Line, 'priority' | 'isBig' | 'folder' | 'files'>;

function startsBefore(all: readonly Kind[], own: Kind, before: number): number {
  const turns = createTurns();
  const left = new Map(all.map((kind) => [kind, kind.files]));
  for (let starts = 0; ; starts += 1) {
    const next = turns.next(all.filter((kind) => (left.get(kind) ?? 0) > 0));
    if (next === null) return starts;
    if (next === own && own.files - (left.get(own) ?? 0) === before) return starts;
    left.set(next, (left.get(next) ?? 0) - 1);
    turns.started(next);
  }
}
