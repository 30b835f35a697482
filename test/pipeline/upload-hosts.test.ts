import { describe, expect, test } from 'vitest';
import type { DropcastEvent } from '../../src/pipeline/events.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import type { Answer } from '../../src/pipeline/file/ports.ts';
import { createUploadHosts } from '../../src/pipeline/upload-hosts.ts';
import { hour, minute } from './running-core.ts';
import { MemoryStore } from './memory-store.ts';
import { created, failure, someFacts } from './some-facts.ts';
import { TestClock } from './test-clock.ts';

function open() {
  const clock = new TestClock(1_000_000);
  const told: DropcastEvent[] = [];
  const store = new MemoryStore();
  const takenBack: string[] = [];
  const hosts = createUploadHosts({
    clock,
    store,
    events: { emit: (event) => void told.push(event) },
    isBack: () => undefined,
    takeBack: (ids, { code }) => void takenBack.push(...ids.map((id) => `${id} ${code}`)),
  });
  return { ...hosts, clock, store, takenBack, types: () => told.map(({ type }) => type) };
}

const at = (host: string, id = 'f_1') =>
  someFacts({
    ...created,
    id,
    uploadUrl: `https://${host}.example/${id}`,
    createdAt: 1_000_000,
    uploadStartedAt: 1_000_001,
  });
const fails = (why: Partial<Failure> = {}) => ({ ok: false, failure: failure('offline', why) }) as const;
const succeeds = { ok: true, value: null } as const;

test('a host that asks for a long wait is reported at once, with the time of the next try', () => {
  const { judge, pause, clock, types } = open();
  judge(at('one'), fails({ retryAfterMs: hour }));
  expect(types()).toEqual(['paused']);
  expect(pause()).toMatchObject({ holds: 'uploads', nextProbeAt: clock.now() + hour });
});

test('one short failure is no news', () => {
  const { judge, pause, types } = open();
  judge(at('one'), fails());
  expect([pause(), types()]).toEqual([null, []]);
});

test('an outage ends once no file needs the host, and is reported to be over', async () => {
  const { admit, judge, ended, pause, tidy, store, clock, types } = open();
  await store.insert(at('one'));
  for (let tries = 0; tries < 2; tries += 1) {
    admit(at('one'));
    judge(at('one'), fails());
    ended('f_1');
    clock.advance(5_000);
  }
  for (let turns = 0; turns < 3; turns += 1) await tidy();
  expect(pause()).not.toBeNull();
  // Its only file was deleted, or the service had its bytes all along.
  Object.assign(store.all, [{ ...at('one'), end: 'vanished' }]);
  await tidy();
  await tidy();
  expect([pause(), types()]).toEqual([null, ['paused', 'resumed']]);
  expect(admit(at('one', 'f_2'))).toBe(true);
});

test('an outage continues while another file waits for the host', async () => {
  const { isOpen, judge, pause, tidy } = open();
  judge(at('one'), fails({ retryAfterMs: hour }));
  for (let turns = 0; turns < 3; turns += 1) {
    isOpen(at('one', 'f_2'));
    await tidy();
  }
  expect(pause()).not.toBeNull();
});

test('an outage continues while a file finds out whether it is over, however long that takes', async () => {
  const { admit, judge, pause, tidy, clock } = open();
  judge(at('one'), fails());
  clock.advance(1_000);
  admit(at('one'));
  judge(at('one'), fails());
  clock.advance(2_000);
  admit(at('one'));
  clock.advance(hour);
  await tidy();
  expect(pause()).not.toBeNull();
});

test('a host is forgotten when no file fails there: a service may have one for each file', async () => {
  const { admit, judge, ended, tidy, clock } = open();
  for (let n = 0; n < 1_000; n += 1) {
    const upload = at(`h${n}`, `f_${n}`);
    if (n % 3 === 0) judge(upload, fails());
    admit(upload);
    if (n % 3 < 2) judge(upload, succeeds);
    else judge(upload, fails());
    ended(upload.id);
    clock.advance(1_000);
  }
  clock.advance(10 * minute);
  await tidy();
  expect(await tidy()).toBe(0);
});

test('failures of one moment count as one: the host is tried again a second later', () => {
  const { admit, judge, isOpen, clock, types } = open();
  const unanswered = { ok: false, failure: failure('transient', { code: 'no_answer', inDoubt: true }) } as const;
  for (const id of ['f_1', 'f_2', 'f_3', 'f_4']) admit(at('one', id));
  const waits = ['f_1', 'f_2', 'f_3', 'f_4'].map((id) => {
    const answer = judge(at('one', id), unanswered);
    return answer.ok ? null : answer.failure.retryAfterMs;
  });
  expect(waits).toEqual([1_000, 1_000, 1_000, 1_000]);
  clock.advance(1_000);
  expect([isOpen(at('one', 'f_5')), types()]).toEqual([true, []]);
});

describe('a host that refuses new addresses', () => {
  const refuses = { ok: false, failure: failure('address dead', { status: 403, message: 'answered 403' }) } as const;
  const kind = (answer: Answer<unknown>): string => (answer.ok ? 'ok' : answer.failure.kind);

  test('of one file leaves it to that file: its address may be dead', () => {
    const { judge, isOpen, isSpared, mayCreate } = open();
    expect(kind(judge(at('one'), refuses, true))).toBe('address dead');
    expect([isOpen(at('one', 'f_2')), isSpared(at('one')), mayCreate()]).toEqual([true, false, true]);
  });

  test('of two files waits: both keep their records, nothing is created, and one line says so', () => {
    const { judge, isOpen, isSpared, mayCreate, pause, types, clock } = open();
    judge(at('one'), refuses, true);
    expect(kind(judge(at('one', 'f_2'), refuses, true))).toBe('offline');
    expect([isSpared(at('one')), isSpared(at('one', 'f_2'))]).toEqual([true, true]);
    expect([isOpen(at('one')), mayCreate(), types()]).toEqual([false, false, ['paused']]);
    expect(pause()?.why).toBe('https://one.example refuses every new upload address: answered 403');
    clock.advance(minute);
    expect(isOpen(at('one'))).toBe(true);
  });

  test('is tried with one file at a time, which keeps its record', () => {
    const { judge, admit, ended, isOpen, isSpared, clock, types } = open();
    judge(at('one'), refuses, true);
    judge(at('one', 'f_2'), refuses, true);
    for (let tries = 0; tries < 5; tries += 1) {
      clock.advance(minute);
      expect([admit(at('one')), isOpen(at('one', 'f_2'))]).toEqual([true, false]);
      expect(kind(judge(at('one'), refuses))).toBe('offline');
      ended('f_1');
    }
    expect([isSpared(at('one')), types()]).toEqual([true, ['paused']]);
  });

  test('continues with the same records once it takes a file', () => {
    const { judge, isOpen, isSpared, mayCreate, types } = open();
    judge(at('one'), refuses, true);
    judge(at('one', 'f_2'), refuses, true);
    judge(at('one'), succeeds);
    expect([isOpen(at('one', 'f_2')), isSpared(at('one', 'f_2')), mayCreate()]).toEqual([true, true, true]);
    expect(types()).toEqual(['paused', 'resumed']);
    expect(kind(judge(at('one', 'f_2'), refuses))).toBe('address dead');
    expect(isSpared(at('one', 'f_2'))).toBe(false);
  });

  test.each([
    [
      'the first of them was taken in between',
      (hosts: ReturnType<typeof open>) => hosts.judge(at('one', 'f_9'), succeeds),
    ],
    ['the files go to different hosts', null],
  ])('is not found at fault when %s', (_name, between) => {
    const hosts = open();
    hosts.judge(at(between === null ? 'two' : 'one'), refuses, true);
    between?.(hosts);
    expect(kind(hosts.judge(at('one', 'f_2'), refuses, true))).toBe('address dead');
  });

  test('is not found at fault for addresses that were used before, or that are old', () => {
    const { judge } = open();
    judge(at('one'), refuses, true);
    expect(kind(judge(at('one', 'f_2'), refuses, false))).toBe('address dead');
    expect(kind(judge({ ...at('one', 'f_3'), uploadStartedAt: 1_000_000 + 61_000 }, refuses, true))).toBe(
      'address dead',
    );
  });

  test('is not found at fault for addresses that have expired, however new they are', () => {
    const { judge, isOpen, isSpared, mayCreate, types } = open();
    const expired = { ok: false, failure: failure('address dead', { status: 410, message: 'answered 410' }) } as const;
    for (const id of ['f_1', 'f_2', 'f_3']) expect(kind(judge(at('one', id), expired, true))).toBe('address dead');
    expect([isOpen(at('one', 'f_4')), isSpared(at('one')), mayCreate(), types()]).toEqual([true, false, true, []]);
  });

  test('replaces the record of a file whose address expires while it waits for the host', () => {
    const { judge, admit, isSpared, clock } = open();
    judge(at('one'), refuses, true);
    judge(at('one', 'f_2'), refuses, true);
    clock.advance(minute);
    admit(at('one'));
    const expired = { ok: false, failure: failure('address dead', { status: 410, message: 'answered 410' }) } as const;
    expect(kind(judge(at('one'), expired))).toBe('address dead');
    expect([isSpared(at('one')), isSpared(at('one', 'f_2'))]).toEqual([false, true]);
  });

  test('is tried with a new record after 2, 4, 8 and then every 15 minutes: an address may have expired', () => {
    const { judge, admit, takesNewAddress, mayCreate, clock } = open();
    judge(at('one'), refuses, true);
    judge(at('one', 'f_2'), refuses, true);
    const taken: number[] = [];
    for (let n = 1; n <= 60; n += 1) {
      clock.advance(minute);
      expect(admit(at('one'))).toBe(true);
      if (takesNewAddress(at('one'))) taken.push(n);
      expect(kind(judge(at('one'), refuses))).toBe('offline');
    }
    expect([taken, mayCreate()]).toEqual([[2, 6, 14, 29, 44, 59], false]);
  });

  test('keeps no file from getting a record once no other file has taken the next try for a minute', () => {
    const { judge, mayCreate, clock } = open();
    judge(at('one'), refuses, true);
    judge(at('one', 'f_2'), refuses, true);
    clock.advance(2 * minute);
    expect(mayCreate()).toBe(false);
    clock.advance(1);
    expect(mayCreate()).toBe(true);
  });

  test('is tried with the address that a file has while that is new', () => {
    const { judge, takesNewAddress, clock } = open();
    judge(at('one'), refuses, true);
    judge(at('one', 'f_2'), refuses, true);
    clock.advance(10 * minute);
    expect(takesNewAddress({ ...at('one', 'f_3'), createdAt: clock.now() - 30_000 })).toBe(false);
    expect(takesNewAddress(at('two', 'f_4'))).toBe(false);
  });

  test('does not keep files from getting records when another host takes files', () => {
    const { judge, mayCreate } = open();
    judge(at('two'), succeeds);
    judge(at('one'), refuses, true);
    judge(at('one', 'f_2'), refuses, true);
    expect(mayCreate()).toBe(true);
  });
});

test.each([
  failure('permanent', { code: 'quota_reached', status: 413 }),
  failure('transient', { code: 'insufficient_storage', status: 507, inDoubt: true }),
  failure('address dead', { code: 'storage_full', status: 403 }),
])('$code to a PUT concerns all files: one tries an hour later, and no file gets a record until then', (why) => {
  const { judge, isOpen, admit, ended, mayCreate, pause, clock } = open();
  const refused = { ok: false, failure: why } as const;
  expect(judge(at('one'), refused)).toMatchObject({ failure: { kind: 'offline', code: why.code, retryAfterMs: hour } });
  expect(pause()).toMatchObject({ holds: 'uploads', code: why.code, nextProbeAt: clock.now() + hour });
  expect([isOpen(at('one', 'f_2')), mayCreate()]).toEqual([false, false]);
  clock.advance(hour);
  expect(admit(at('one', 'f_2'))).toBe(true);
  judge(at('one', 'f_2'), succeeds);
  ended('f_2');
  expect([pause(), mayCreate()]).toEqual([null, true]);
  // It does not fit into what is left: it waits, and the others continue.
  clock.advance(minute);
  expect(judge(at('one'), refused)).toMatchObject({ failure: { kind: 'offline', retryAfterMs: hour } });
  expect([pause(), mayCreate()]).toEqual([null, true]);
});

describe('the same refusal', () => {
  const refused = (of: Partial<Failure> = {}) =>
    ({ ok: false, failure: failure('permanent', { status: 400, code: 'E_1234', message: 'no', ...of }) }) as const;
  const kinds = (here: ReturnType<typeof open>, answers: ReturnType<typeof refused>[], host = 'one') =>
    answers.map((answer, n) => {
      const judged = here.judge(at(host, `f_${n}`), answer);
      return judged.ok ? 'ok' : judged.failure.kind;
    });

  test('of three files is one outage of the host: the first two are taken back, and one file a time tries', () => {
    const here = open();
    expect(kinds(here, [refused(), refused(), refused(), refused()])).toEqual(
      'permanent permanent offline offline'.split(' '),
    );
    expect(here.takenBack).toEqual(['f_0 E_1234', 'f_1 E_1234']);
    expect(here.types()).toEqual(['paused']);
    expect(here.pause()).toMatchObject({
      holds: 'uploads',
      code: 'E_1234',
      why: 'https://one.example refused 3 different files alike: no',
      nextProbeAt: here.clock.now() + minute,
    });
    expect([here.admit(at('one', 'f_5')), here.mayCreate()]).toEqual([false, false]);
    here.clock.advance(minute);
    expect([here.admit(at('one', 'f_5')), here.admit(at('one', 'f_6'))]).toEqual([true, false]);
    here.judge(at('one', 'f_5'), refused());
    here.ended('f_5');
    expect(here.pause()).toMatchObject({ nextProbeAt: here.clock.now() + 2 * minute });
    here.clock.advance(2 * minute);
    expect(here.admit(at('one', 'f_6'))).toBe(true);
    here.judge(at('one', 'f_6'), succeeds);
    expect([here.pause(), here.mayCreate(), here.types()]).toEqual([null, true, ['paused', 'resumed']]);
  });

  test.each<[string, (here: ReturnType<typeof open>) => unknown]>([
    ['of one file', ({ judge }) => [0, 1, 2, 3].map(() => judge(at('one'), refused()))],
    [
      'with a success in between',
      (here) => [
        kinds(here, [refused(), refused()]),
        here.judge(at('one', 'f_8'), succeeds),
        here.judge(at('one', 'f_9'), refused()),
      ],
    ],
    [
      'within more than an hour',
      (here) => [
        kinds(here, [refused(), refused()]),
        here.clock.advance(hour),
        here.judge(at('one', 'f_9'), refused()),
      ],
    ],
    ['by different hosts', (here) => ['one', 'two', 'three'].map((host) => here.judge(at(host, host), refused()))],
    ['with different codes', (here) => kinds(here, [refused(), refused({ code: 'E_2' }), refused({ status: 402 })])],
    [
      'of their size',
      (here) =>
        kinds(
          here,
          [1, 2, 3].map(() => refused({ sizeLimit: { from: 'service', mostBytes: 9 } })),
        ),
    ],
    ...[413, 415, 422].map((status): [string, (here: ReturnType<typeof open>) => unknown] => [
      `with ${status}`,
      (here) =>
        kinds(
          here,
          [1, 2, 3].map(() => refused({ status })),
        ),
    ]),
    ...['BadDigest', 'InvalidRequest', 'checksum_mismatch', 'unsupported_media'].map(
      (code): [string, (here: ReturnType<typeof open>) => unknown] => [
        `with ${code}`,
        (here) =>
          kinds(
            here,
            [1, 2, 3].map(() => refused({ code })),
          ),
      ],
    ),
  ])('%s concerns the files', (_, happens) => {
    const here = open();
    happens(here);
    expect([here.pause(), here.takenBack]).toEqual([null, []]);
  });

  test('is known after a restart: one file tries, and those that failed before are taken back', async () => {
    const here = open();
    const lastFailure = failure('offline', { status: 400, code: 'E_1234', message: 'all refused' });
    const before = failure('permanent', { status: 400, code: 'E_1234' });
    const failed = { end: 'failed', endedAt: here.clock.now() } as const;
    await here.store.insert({ ...at('one', 'f_1'), ...failed, lastFailure: before });
    await here.store.insert({ ...at('two', 'f_2'), ...failed, lastFailure: before });
    await here.store.insert({ ...at('one', 'f_3'), ...failed, lastFailure: { ...before, code: 'E_2' } });
    await here.store.insert({ ...at('one', 'f_4'), lastFailure, notBefore: 1 });
    await here.recall();
    expect(here.takenBack).toEqual(['f_1 E_1234']);
    expect([here.admit(at('one', 'f_5')), here.admit(at('one', 'f_4'))]).toEqual([true, false]);
  });

  test.each<[string, Parameters<typeof fails>[0]]>([
    ['another refusal', { status: 400, code: 'E_1' }],
    ['no answer', { code: 'ECONNREFUSED' }],
  ])('that follows %s is the new reason, and fails no file however rare the tries get', (_, former) => {
    const here = open();
    if (former?.status === undefined) here.judge(at('one', 'f_0'), fails(former));
    else kinds(here, [refused(former), refused(former), refused(former)]);
    here.clock.advance(minute);
    const outcomes = [];
    for (let n = 10; n < 25; n += 1) {
      if (n > 12) here.clock.advance(61 * minute);
      expect(here.admit(at('one', `f_${n}`))).toBe(true);
      const judged = here.judge(at('one', `f_${n}`), refused());
      here.ended(`f_${n}`);
      outcomes.push(judged.ok ? 'ok' : judged.failure.kind);
    }
    expect(outcomes.slice(0, 3)).toEqual(['permanent', 'permanent', 'offline']);
    expect(new Set(outcomes.slice(2))).toEqual(new Set(['offline']));
    expect([here.pause()?.code, here.mayCreate()]).toEqual(['E_1234', false]);
  });

  test('of a record that has no address yet pauses no host after a restart', async () => {
    const here = open();
    const lastFailure = failure('offline', { status: 400, code: 'E_1234' });
    await here.store.insert({ ...at('one'), videoId: null, uploadUrl: null, lastFailure, notBefore: 1 });
    await here.store.insert({ ...at('two', 'f_2'), uploadedAt: 1, lastFailure, notBefore: 1 });
    await here.recall();
    expect(here.mayCreate()).toBe(true);
  });
});
