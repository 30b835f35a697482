import { describe, expect, test } from 'vitest';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { deletionWords } from '../../src/daemon/deletion-words.ts';
import { viewOf } from '../../src/daemon/file-view.ts';
import { filesOf } from '../../src/daemon/view.ts';
import type { FileFilter, LedgerView } from '../../src/ledger/view.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { created, ready, someFacts, someVersion } from '../pipeline/some-facts.ts';

/** Five files wait for an upload slot, newest first; the oldest of them has it. */
const waiting = [5, 4, 3, 2, 1].map((n) => someFacts({ ...created, id: `f_${n}` }));
let mostAsked = 0;
const ledger = {
  list: ({ states, also, limit }: FileFilter): Promise<readonly Facts[]> => {
    mostAsked = Math.max(mostAsked, limit);
    const isMeant = (): boolean => states?.includes('awaiting upload') ?? true;
    const isToo = ({ id }: Facts): boolean =>
      also?.ids.includes(id) === true && also.states.includes('awaiting upload');
    return Promise.resolve(waiting.filter((facts) => isMeant() || isToo(facts)).slice(0, limit));
  },
} as LedgerView;
const daemon = {
  conductor: {
    pause: () => null,
    createsWaitUntil: () => null,
    uploads: () => [{ id: 'f_1', sentBytes: 7 }],
  },
  rows: { isHeld: (id: string) => id === 'f_1', held: () => ['f_1'] },
  gate: { snapshot: () => ({ waiting: 0 }) },
  folders: { settling: () => [] },
  times: { startAt: () => null },
} as unknown as Daemon;

test.for([
  { states: ['uploading'], limit: 2, ids: ['f_1'] },
  { states: ['awaiting upload'], limit: 4, ids: ['f_5', 'f_4', 'f_3', 'f_2'] },
  { states: ['awaiting upload'], limit: 2, ids: ['f_5', 'f_4'] },
  { states: [], limit: 2, ids: ['f_5', 'f_4'] },
])('a limit of $limit counts files that are $states, not rows of the ledger', async ({ states, limit, ids }) => {
  const { files } = await filesOf(ledger, daemon, { states, limit });
  expect(files.map(({ id }) => id)).toEqual(ids);
});

test('a short list of one state reads few rows, however many files wait', async () => {
  mostAsked = 0;
  for (const state of ['queued', 'creating', 'awaiting upload', 'uploading'])
    await filesOf(ledger, daemon, { states: [state], limit: 3 });
  expect(mostAsked).toBe(4);
});

test('a limit counts what settles too', async () => {
  const settling = [1, 2, 3].map((n) => ({ folder: '/inbox', path: `${n}.mp4`, size: n, why: 'unchanged for 1 s' }));
  const busy = { ...daemon, folders: { settling: () => settling } } as unknown as Daemon;
  const counts = async (limit: number) => {
    const view = await filesOf(ledger, busy, { states: [], limit });
    return [view.settling.length, view.files.length];
  };
  expect(await counts(2)).toEqual([2, 0]);
  expect(await counts(4)).toEqual([3, 1]);
});

test('a queued file says that too many create requests had no answer, and when it goes on', () => {
  const conductor = { ...daemon.conductor, createsWaitUntil: () => Date.now() + 30 * 60_000 };
  const capped = { ...daemon, conductor } as unknown as Daemon;
  expect(viewOf(capped, someFacts({ id: 'f_9' })).why).toMatch(
    /create requests .* no usable answer; resumes at [-\d]+ [\d:]+ UTC$/,
  );
  expect(viewOf(capped, someFacts({ ...created, id: 'f_9' })).why).toBe('waiting for an upload slot');
});

test.for([
  ['queued', {}],
  ['awaiting upload', created],
] as const)('a file that is %s says when uploads start', ([, facts]) => {
  const startAt = new Date();
  startAt.setHours(20, 0, 0, 0);
  const later = { ...daemon, times: { startAt: () => startAt.getTime() } } as unknown as Daemon;
  expect(viewOf(later, someFacts({ ...facts, id: 'f_9' })).why).toBe('uploads start at 20:00');
});

test.for([
  { gate: { waiting: 0, blockedUntil: 0 }, why: /turn/ },
  { gate: { waiting: 1, blockedUntil: 0 }, why: /budget/ },
  { gate: { waiting: 1, blockedUntil: Date.now() + 60_000 }, why: /429.* resumes in \d+ s$/ },
])('a queued file says: $why', ({ gate, why }) => {
  const limited = { ...daemon, gate: { snapshot: () => gate } } as unknown as Daemon;
  expect(viewOf(limited, someFacts({ id: 'f_9' })).why).toMatch(why);
});

// Out of reach in a hidden directory, a large file seems to be lost for minutes.
test.for([
  [{ kind: 'delete' }, 'f_1', 'its local file is out of reach while it is read once more; then it is deleted'],
  [{ kind: 'move', to: 'done' }, 'f_1', 'its local file is out of reach while it is read once more; then it is moved'],
  [{ kind: 'move', to: 'done' }, 'f_2', null],
] as const)('a finished file says where its local file is: %j %s', ([afterReady, id, why]) => {
  const facts = someFacts({ ...ready, id, end: 'done', disposal: 'pending', afterReady });
  expect(viewOf(daemon, facts).why).toBe(why);
});

describe('a finished file whose local file is deleted later', () => {
  const day = 86_400_000;
  const doneAt = new Date(2026, 10, 22, 14, 0).getTime();
  const now = new Date(2026, 10, 23).getTime();
  test.for([
    [{ afterMs: 7 * day, whenFull: 85 }, 'will be deleted on 29 Nov 14:00, or when the disk is 85 % full'],
    [{ afterMs: 60 * day, whenFull: null }, 'will be deleted on 21 Jan 2027 14:00'],
    [{ afterMs: null, whenFull: 90 }, 'will be deleted when the disk is 90 % full'],
  ] as const)('says when: %j', ([later, words]) => {
    const facts = someFacts({
      ...ready,
      end: 'done',
      endedAt: doneAt,
      disposal: 'later',
      afterReady: { kind: 'delete', later },
    });
    expect(deletionWords(facts, now)).toBe(words);
    expect(viewOf(null, facts)).toMatchObject({ local: 'later', why: expect.stringMatching(/^will be deleted/) });
    expect(viewOf(null, { ...facts, disposal: 'deleted' }).why).toBeNull();
  });
});

test('only files that have yet to be sent wait for an upload host', () => {
  const pause = { kind: 'offline', holds: 'uploads', why: 'uploads wait: no answer', code: 'no_answer' };
  const held = { ...daemon, conductor: { ...daemon.conductor, pause: () => pause } } as unknown as Daemon;
  const away = {
    ...daemon,
    conductor: { ...daemon.conductor, pollTrouble: () => null, pause: () => ({ ...pause, holds: 'everything' }) },
  } as unknown as Daemon;
  const of = (one: Daemon, stage: Partial<Facts>) => viewOf(one, someFacts({ ...stage, id: 'f_9' })).why;
  expect([of(held, {}), of(held, created)]).toEqual([
    'paused: uploads wait: no answer',
    'paused: uploads wait: no answer',
  ]);
  expect(of(held, ready)).toBe('waiting a few seconds to publish several at once');
  expect(of(away, ready)).toBe('paused: uploads wait: no answer');
});

test('an upload says when all bytes have left and only the answer is missing', () => {
  const sending = (sentBytes: number): Daemon =>
    ({ ...daemon, conductor: { ...daemon.conductor, uploads: () => [{ id: 'f_1', sentBytes }] } }) as unknown as Daemon;
  const { size } = someVersion;
  const of = (sentBytes: number) => viewOf(sending(sentBytes), someFacts({ ...created, id: 'f_1' }));
  expect(of(size - 1)).toMatchObject({ state: 'uploading', why: null });
  expect(of(size)).toMatchObject({ state: 'uploading', why: 'sent; waiting for the answer of the upload host' });
});
