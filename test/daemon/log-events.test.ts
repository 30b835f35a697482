import { expect, test } from 'vitest';
import { logEvents } from '../../src/daemon/log-events.ts';
import type { Logger } from '../../src/log/logger.ts';
import type { DropcastEvent } from '../../src/pipeline/events.ts';
import { ignoredBy } from '../../src/pipeline/file/reasons.ts';
import { recordingLogger } from '../pipeline/silent-logger.ts';
import { failure } from '../pipeline/some-facts.ts';
import { newFacts } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';

const now = 1_000_000;
const facts = newFacts({
  id: 'f_1',
  folder: '/inbox',
  path: 'clip.mp4',
  version: { dev: '1', ino: '2', birthtimeNs: '3', size: 4, mtimeNs: '5', ctimeNs: '6' },
  sourceUrl: null,
  plan: { rule: 'folders[0].rules[0]', channel: 'ch_main', title: 'clip', description: null, tags: [], publish: [] },
  onDuplicate: 'skip',
  afterReady: { kind: 'keep' },
  discoveredAt: now,
});
const bound: Partial<Facts> = { videoId: 'vid_1', uploadUrl: 'https://upload.example.com/put?sig=secret' };
const done: Partial<Facts> = { ...bound, uploadedAt: now, readyAt: now, end: 'done', endedAt: now, disposal: 'kept' };

/** The states that the log names when these changes are written one after another. */
function logged(changes: readonly Partial<Facts>[], from: Partial<Facts> = {}): readonly unknown[] {
  const lines: unknown[] = [];
  const silent = (): void => undefined;
  const logger: Logger = {
    debug: silent,
    warn: silent,
    error: silent,
    info: (_, fields) => lines.push(fields?.['state']),
  };
  const listen = logEvents(logger);
  let before = { ...facts, ...from };
  for (const change of changes) {
    const after = { ...facts, ...change };
    listen({ type: 'file', before, facts: after, note: null });
    before = after;
  }
  return lines;
}

test('each state on the way is logged once, however often the row is saved', () => {
  const uploading = { ...bound, uploadStartedAt: now };
  const processing = { ...uploading, uploadedAt: now };
  expect(logged([{ intent: 't' }, bound, uploading, uploading, processing, processing, done])).toEqual([
    'awaiting upload',
    'processing',
    'done',
  ]);
});

test('a failure says it already, so the end that follows it is not logged again', () => {
  expect(logged([{ notBefore: now + 1 }, { end: 'failed', endedAt: now }, { end: 'held', endedAt: now }])).toEqual([]);
});

test('amending or putting away a file that is done is not reported as news, however soon', () => {
  expect(logged([done, { ...done, amendment: { title: 'Clip' } }, done], {})).toEqual(['done']);
  expect(logged([{ ...done, disposal: 'moved' }], done)).toEqual([]);
});

test('a restart repeats nothing', () => {
  const processing = { ...bound, uploadedAt: now };
  expect(logged([{ ...processing, remoteStatus: 'transcoding' }], processing)).toEqual([]);
});

test('a local file that is kept against the rule is a warning with its reason, once', () => {
  const { lines, ...logger } = recordingLogger();
  const listen = logEvents(logger);
  const kept: Facts = { ...facts, ...done, disposal: 'refused', why: 'kept: its content is not what was sent' };
  listen({ type: 'file', before: { ...facts, ...done, disposal: 'pending' }, facts: kept, note: kept.why });
  listen({ type: 'file', before: kept, facts: { ...kept, amendment: { title: 'Clip' } }, note: null });
  expect(lines).toMatchObject([{ level: 'warn', fields: { file: 'f_1', why: kept.why } }]);
});

test.each([
  [null, 'info'],
  ['no rule matches', 'warn'],
])('a file that arrived and is held because of %s is reported as %s', (heldBecause, level) => {
  const { lines, ...logger } = recordingLogger();
  logEvents(logger)({ type: 'arrival', path: '/inbox/clip.mp4', size: 4, as: 'new', heldBecause });
  expect(lines).toMatchObject([{ level, fields: { path: '/inbox/clip.mp4', as: 'new', size: 4 } }]);
});

test('a pause is reported with its cause and the time of the next try', () => {
  const { lines, ...logger } = recordingLogger();
  const pause = { kind: 'offline', holds: 'uploads', why: 'no answer', code: 'c', since: 0, probes: 0 } as const;
  logEvents(logger)({ type: 'paused', pause: { ...pause, nextProbeAt: 60_000 } });
  expect(lines).toMatchObject([{ level: 'warn', fields: { why: 'no answer', next: '1970-01-01T00:01:00.000Z' } }]);
});

test('a file that a changed rule or sidecar holds is logged with the reason, and only then', () => {
  const { lines, ...logger } = recordingLogger();
  const listen = logEvents(logger);
  const failure = { kind: 'permanent', code: 'no_rule', message: 'no rule matches' } as const;
  const held: Facts = { ...facts, plan: null, end: 'held', why: 'no rule matches', endedAt: now, lastFailure: failure };
  listen({ type: 'file', before: facts, facts: held, note: 'rules or sidecar changed' });
  listen({ type: 'file', before: held, facts: { ...held, endedAt: now + 1 }, note: null });
  expect(lines).toEqual([
    {
      level: 'warn',
      message: 'Held',
      fields: { file: 'f_1', state: 'held', path: '/inbox/clip.mp4', why: 'no rule matches' },
    },
  ]);
});

/** The lines that are printed by default, with their level. */
function linesOf(...events: readonly DropcastEvent[]): readonly string[] {
  const logger = recordingLogger();
  events.forEach(logEvents(logger));
  return logger.lines.filter(({ level }) => level !== 'debug').map(({ level, message }) => `${level} ${message}`);
}

test('the same failure of a file is one line until it ends, however often it is tried', () => {
  const failed = failure('transient');
  const event = { type: 'failure', facts: { ...facts, notBefore: 9 }, failure: failed, next: 'later' } as const;
  const last = { ...event, facts: { ...facts, end: 'failed' }, isRepeated: true } as const;
  expect(linesOf({ ...event, isRepeated: false }, { ...event, isRepeated: true }, last)).toEqual([
    'warn A step failed',
    'warn A step failed',
  ]);
});

test('ignoring a file is one line', () => {
  const ignored = {
    ...facts,
    end: 'skipped',
    why: 'ignored by anna',
    lastFailure: ignoredBy('anna', { end: null, lastFailure: null }),
  } as const;
  expect(linesOf({ type: 'file', before: facts, facts: ignored, note: 'ignored by anna' })).toEqual(['info Skipped']);
});

test('the channel of a late sidecar is refused once', () => {
  const late = { ...facts, ...bound };
  const refused: Facts = { ...late, plan: facts.plan && { ...facts.plan, refusedChannel: 'ch_other' } };
  const changed: Facts = { ...refused, attempts: 1 };
  expect(
    linesOf(
      { type: 'file', before: late, facts: refused, note: null },
      { type: 'file', before: refused, facts: changed, note: null },
    ),
  ).toEqual(['warn Request refused']);
});

test('the log calls each step by the words of the history', () => {
  const uploaded: Facts = { ...facts, ...bound, uploadedAt: now };
  const steps = [facts, { ...facts, ...bound }, uploaded, { ...facts, ...done }];
  const events = steps
    .slice(1)
    .map((after, n) => ({ type: 'file', before: steps[n] ?? null, facts: after, note: null }) as const);
  expect(linesOf(...events)).toEqual(['info Record created', 'info Uploaded; the service processes it', 'info Done']);
});

test('a pause that a person set is one line, and another when it is over', () => {
  const pause = { folder: '/inbox', since: now, until: now + 1, by: 'anna' };
  expect(
    linesOf(
      { type: 'operator-pause', pause, is: 'set', by: 'anna' },
      { type: 'operator-pause', pause, is: 'over', by: null },
    ),
  ).toEqual(['info Paused', 'info Pause ended']);
});
