import { condemned } from '../../../src/pipeline/file/reasons.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/pipeline/file/machine.ts';
import type { FileEvent, MachinePolicy } from '../../../src/pipeline/file/machine.ts';
import { feedsToPublish, stateOf } from '../../../src/pipeline/file/facts.ts';
import type { Facts, FileState } from '../../../src/pipeline/file/facts.ts';
import type { Outcome } from '../../../src/pipeline/file/outcome.ts';
import { after as next } from '../held-rows.ts';
import { created, failure, ready, someFacts, somePlan, uploaded } from '../some-facts.ts';
import { anyFacts } from '../any-facts.ts';

const policy: MachinePolicy = { attempts: 3, retryAt: () => 999, now: () => 50 };
const published = { published: { feed_news: 9 } };

/** A row of each parked state. */
const rows = {
  queued: someFacts(),
  'awaiting upload': someFacts(created),
  processing: someFacts(uploaded),
  'awaiting publish': someFacts(ready),
  retrying: someFacts({ ...created, notBefore: 99, attempts: 1, lastFailure: failure('transient') }),
  failed: someFacts({
    ...created,
    end: 'failed',
    why: 'it was permanent',
    endedAt: 8,
    lastFailure: failure('permanent'),
  }),
  held: someFacts({ ...uploaded, end: 'held', why: 'it was gone', endedAt: 8, lastFailure: failure('gone') }),
  skipped: someFacts({ end: 'skipped', why: 'twin', endedAt: 8, lastFailure: failure('duplicate', { twin: 'f_0' }) }),
  vanished: someFacts({ end: 'vanished', why: 'away', endedAt: 8 }),
  superseded: someFacts({ end: 'superseded', why: 'changed', endedAt: 8 }),
  done: someFacts({ ...ready, ...published, end: 'done', endedAt: 8, disposal: 'kept' }),
  'taken back': someFacts({
    ...ready,
    ...published,
    ...condemned({ videoId: 'vid_1' }, 'taken back by anna'),
    end: 'skipped',
    endedAt: 8,
    disposal: 'kept',
  }),
} satisfies Partial<Record<FileState | 'taken back', Facts>>;

const events: readonly FileEvent[] = [
  { type: 'REMOTE_STATUS', status: 'processing' },
  { type: 'REMOTE_STATUS', status: 'transcoding' },
  { type: 'REMOTE_STATUS', status: 'ready' },
  { type: 'REMOTE_STATUS', status: 'failed', message: 'no video track' },
  { type: 'REMOTE_GONE' },
  { type: 'GIVE_UP' },
  { type: 'PUBLISHED', feed: 'feed_news', at: 9 },
  { type: 'PUBLISHED', feed: 'feed_other', at: 9 },
  { type: 'PUBLISH_FAILED', failure: failure('permanent') },
  { type: 'PUBLISH_FAILED', failure: failure('suspended', { code: 'unknown_feed', feed: 'feed_news' }) },
  { type: 'FILE_GONE' },
  { type: 'FILE_CHANGED' },
  { type: 'TWIN_FELL', twin: 'f_0' },
  { type: 'TWIN_FELL', twin: 'f_other' },
  { type: 'ADOPTED', videoId: 'vid_9' },
  { type: 'RETRY' },
  { type: 'SEND_ELSEWHERE', channel: 'ch_other' },
  { type: 'IGNORE', by: 'anna' },
  { type: 'UNIGNORE' },
  { type: 'TAKE_BACK', videoId: 'vid_1', by: 'anna' },
  { type: 'TAKE_BACK', videoId: 'vid_9', by: 'anna' },
  { type: 'VIDEO_DELETED' },
  { type: 'VIDEO_KEPT', why: 'edited' },
];

/** What moves; every other pair of state and event changes nothing. `GO` is the runner's: it starts a step. */
const moves: Partial<Record<keyof typeof rows, Readonly<Record<string, FileState>>>> = {
  queued: { FILE_GONE: 'vanished', FILE_CHANGED: 'superseded', IGNORE: 'skipped' },
  'awaiting upload': { FILE_GONE: 'vanished', FILE_CHANGED: 'superseded', IGNORE: 'skipped' },
  processing: {
    'REMOTE_STATUS transcoding': 'processing',
    'REMOTE_STATUS ready': 'awaiting publish',
    'REMOTE_STATUS failed': 'failed',
    REMOTE_GONE: 'held',
    GIVE_UP: 'failed',
  },
  'awaiting publish': {
    'PUBLISHED feed_news': 'done',
    'PUBLISH_FAILED permanent': 'failed',
    'PUBLISH_FAILED suspended': 'awaiting publish',
  },
  retrying: { FILE_GONE: 'vanished', FILE_CHANGED: 'superseded', RETRY: 'awaiting upload', IGNORE: 'skipped' },
  failed: { FILE_CHANGED: 'superseded', RETRY: 'queued', IGNORE: 'skipped' },
  held: { FILE_CHANGED: 'superseded', RETRY: 'queued', IGNORE: 'skipped' },
  done: { REMOTE_GONE: 'held', 'TAKE_BACK vid_1': 'skipped' },
  'taken back': { VIDEO_DELETED: 'skipped', VIDEO_KEPT: 'done' },
  skipped: { RETRY: 'queued', 'TWIN_FELL f_0': 'queued' },
  vanished: { RETRY: 'queued' },
};

function nameOf(event: FileEvent): string {
  switch (event.type) {
    case 'REMOTE_STATUS':
      return `${event.type} ${event.status}`;
    case 'PUBLISHED':
      return `${event.type} ${event.feed}`;
    case 'TWIN_FELL':
      return `${event.type} ${event.twin}`;
    case 'TAKE_BACK':
      return `${event.type} ${event.videoId}`;
    case 'PUBLISH_FAILED':
      return `${event.type} ${event.failure.kind}`;
    default:
      return event.type;
  }
}

describe.each(Object.entries(rows))('a file that is %s', (state, facts) => {
  test('is where its row says', () => {
    expect(stateOf(facts)).toBe(stateIn(state));
  });

  test.each(events.map((event) => [nameOf(event), event] as const))('takes %s as the table says', (name, event) => {
    const target = moves[state as keyof typeof rows]?.[name];
    const after = next(facts, event, policy);
    expect(stateOf(after)).toBe(target ?? stateIn(state));
    if (target === undefined) expect(after).toEqual(facts);
    else expect(after).not.toEqual(facts);
  });
});

/** A file whose video is being taken back has a row of its own, and is skipped. */
function stateIn(row: string): string {
  return row === 'taken back' ? 'skipped' : row;
}

/** The rows from which a step begins. */
const steps = {
  creating: rows.queued,
  uploading: someFacts({ ...created, uploadStartedAt: 2, sha256: 'aa' }),
} satisfies Partial<Record<FileState, Facts>>;

const unexpected = 'not expected';

interface StepEnd {
  /** What the step wrote to the row before it ended; nothing by default. */
  readonly row?: Facts;
  readonly creating: FileState | typeof unexpected;
  readonly uploading: FileState | typeof unexpected;
  /** Only where the last attempt leads elsewhere. */
  readonly lastAttempt?: FileState;
}

/** Where each outcome of a step leads, all pairs. */
const ends: Readonly<Record<Outcome['type'], StepEnd>> = {
  bound: { row: someFacts(created), creating: 'awaiting upload', uploading: unexpected },
  imported: { row: someFacts(uploaded), creating: 'processing', uploading: unexpected },
  kept: { row: someFacts(ready), creating: 'awaiting publish', uploading: unexpected },
  arrived: { row: someFacts(uploaded), creating: unexpected, uploading: 'processing' },
  replacing: { row: someFacts({ ...created, dying: true }), creating: unexpected, uploading: 'queued' },
  'started over': { row: someFacts(), creating: unexpected, uploading: 'queued' },
  vanished: { creating: 'vanished', uploading: 'vanished' },
  changed: { creating: 'superseded', uploading: 'superseded' },
  duplicate: { creating: 'skipped', uploading: 'skipped' },
  refused: { creating: 'failed', uploading: 'failed' },
  'needs a person': { creating: 'held', uploading: 'held' },
  'put off': { creating: 'retrying', uploading: 'retrying' },
  'in doubt': { creating: 'retrying', uploading: 'retrying', lastAttempt: 'failed' },
  'address dead': { creating: unexpected, uploading: 'retrying', lastAttempt: 'failed' },
  'attempt failed': { creating: 'retrying', uploading: 'retrying', lastAttempt: 'failed' },
};

/** As a step reports it. */
function outcome(type: Outcome['type']): Outcome {
  switch (type) {
    case 'bound':
    case 'imported':
    case 'kept':
    case 'arrived':
    case 'replacing':
    case 'started over':
      return { type };
    default:
      return { type, failure: failure(type === 'put off' ? 'offline' : 'transient') };
  }
}

describe.each(['creating', 'uploading'] as const)('a file that is %s', (step) => {
  const all = Object.entries(ends) as [Outcome['type'], StepEnd][];
  const table = all.map(([type, end]) => ({ ...end, type, target: end[step], row: end.row ?? steps[step] }));
  const expected = table.filter(({ target }) => target !== unexpected);

  test.each(expected)('and ends $type is $target', ({ type, target, row }) => {
    const ended = outcome(type);
    const after = decide(step, { facts: row, policy }, ended);
    expect(after).toMatchObject({ state: target, isExpected: true });
    expect(stateOf(after.facts)).toBe(target);
    expect(after.facts.lastFailure).toEqual('failure' in ended ? ended.failure : null);
  });

  test.each(expected)('and ends $type at the last attempt', ({ type, target, row, lastAttempt }) => {
    const facts = { ...row, attempts: policy.attempts - 1, lastFailure: failure('transient') };
    const ended = outcome(type);
    const after = decide(step, { facts, policy }, ended);
    expect(after.state).toBe(lastAttempt ?? target);
    expect(stateOf(after.facts)).toBe(after.state);
    if (!('failure' in ended)) expect(after.facts).toMatchObject({ attempts: 0, lastFailure: null });
  });

  test.each(table.filter(({ target }) => target === unexpected))('cannot end $type', ({ type }) => {
    const facts = steps[step];
    expect(decide(step, { facts, policy }, outcome(type))).toEqual({ state: step, facts, isExpected: false });
  });

  test.each(events.map((event) => [nameOf(event), event] as const))('takes %s only after the step', (_, event) => {
    const facts = steps[step];
    const isExpected = event.type === 'FILE_GONE' || event.type === 'FILE_CHANGED';
    expect(decide(step, { facts, policy }, event)).toEqual({ state: step, facts, isExpected });
  });
});

describe('what an event leaves in the row', () => {
  test('the local file no longer matters once a whole body may have left', () => {
    const sent = { ...created, uploadStartedAt: 2, sha256: 'aa' };
    for (const facts of [
      someFacts(sent),
      someFacts({ ...sent, notBefore: 99, lastFailure: failure('transient') }),
      someFacts({ ...sent, dying: true, addressDeadAt: 5 }),
    ]) {
      for (const type of ['FILE_GONE', 'FILE_CHANGED'] as const) expect(next(facts, { type }, policy)).toEqual(facts);
    }
  });

  test('a file held because no rule matches is not retried by hand', () => {
    const facts = someFacts({ plan: null, end: 'held', why: 'no rule matches', endedAt: 8 });
    expect(next(facts, { type: 'RETRY' }, policy)).toEqual(facts);
  });

  test('a retry of a video that the service failed deletes it first', () => {
    const facts = someFacts({ ...uploaded, remoteStatus: 'failed', end: 'failed', lastFailure: failure('permanent') });
    expect(next(facts, { type: 'RETRY' }, policy)).toMatchObject({ dying: true, end: null, attempts: 0, why: null });
  });

  test('a retry of a deleted video forgets it and uploads again', () => {
    const after = next(rows.held, { type: 'RETRY' }, policy);
    expect(after).toMatchObject({ videoId: null, uploadedAt: null, sha256: null, end: null, suspects: [] });
  });

  test('a retry of an import in doubt counts its token among the suspects', () => {
    const facts = someFacts({ intent: 't2', suspects: ['t1'], end: 'held', lastFailure: failure('unclear') });
    expect(next(facts, { type: 'RETRY' }, policy)).toMatchObject({ intent: null, suspects: ['t1', 't2'] });
  });

  test('a retry of a duplicate uploads it', () => {
    expect(next(rows.skipped, { type: 'RETRY' }, policy)).toMatchObject({ onDuplicate: 'upload', end: null });
  });

  test('a retry after giving up gives the service its full time again', () => {
    const facts = someFacts({ ...uploaded, end: 'failed', lastFailure: failure('permanent', { code: 'gave_up' }) });
    expect(next(facts, { type: 'RETRY' }, policy)).toMatchObject({ processingSince: 50, dying: false });
  });

  test('an ignored file says who ignored it, whatever was wrong with it', () => {
    for (const facts of [rows.queued, rows['awaiting upload'], rows.retrying, rows.failed, rows.held]) {
      const after = next(facts, { type: 'IGNORE', by: 'anna' }, policy);
      expect(after).toMatchObject({ end: 'skipped', why: 'ignored by anna', endedAt: 50, notBefore: null });
      expect(after.lastFailure).toMatchObject({ code: 'ignored' });
      expect([after.videoId, after.intent, after.suspects]).toEqual([facts.videoId, facts.intent, facts.suspects]);
    }
  });

  test('a file whose bytes may have left is not ignored', () => {
    const sent = { ...created, uploadStartedAt: 2, sha256: 'aa' };
    for (const facts of [someFacts(sent), someFacts({ ...sent, notBefore: 99 }), rows.processing]) {
      expect(next(facts, { type: 'IGNORE', by: 'anna' }, policy)).toEqual(facts);
    }
  });

  test.each(['RETRY', 'UNIGNORE'] as const)(
    'an ignored file begins again with %s, and does not upload a duplicate',
    (type) => {
      for (const facts of [rows.queued, rows['awaiting upload']]) {
        const ignored = next(facts, { type: 'IGNORE', by: 'anna' }, policy);
        const after = next(ignored, { type }, policy);
        expect(stateOf(after)).toBe('queued');
        expect(after).toMatchObject({ onDuplicate: 'skip', why: null, endedAt: null, lastFailure: null });
        // Only on the way to a new record does it look whether another file with its content was uploaded meanwhile.
        expect(after.dying).toBe(facts.videoId !== null);
      }
    },
  );

  test('a file that is ignored no longer is held again for what only a person can decide', () => {
    const sent = { ...created, uploadStartedAt: 2, sha256: 'aa', uploadedAt: 3 };
    for (const held of [
      someFacts({
        ...sent,
        end: 'held',
        why: 'it was deleted',
        lastFailure: { ...failure('gone'), message: 'it was deleted' },
      }),
      someFacts({
        end: 'held',
        why: 'old',
        lastFailure: { ...failure('permanent', { code: 'existing' }), message: 'old' },
      }),
      someFacts({
        end: 'held',
        why: 'empty',
        lastFailure: { ...failure('permanent', { code: 'flawed' }), message: 'empty' },
      }),
      someFacts({
        end: 'held',
        plan: null,
        why: 'no rule',
        lastFailure: { ...failure('permanent', { code: 'no_rule' }), message: 'no rule' },
      }),
    ]) {
      const ignored = next(held, { type: 'IGNORE', by: 'anna' }, policy);
      const after = next(ignored, { type: 'UNIGNORE' }, policy);
      expect(after).toEqual({ ...held, endedAt: 50 });
    }
  });

  test('a file that is no longer ignored continues when it failed, or when a rule matches it by now', () => {
    const noRule = failure('permanent', { code: 'no_rule' });
    for (const before of [
      someFacts({ end: 'failed', lastFailure: failure('permanent') }),
      someFacts({ end: 'held', lastFailure: noRule }),
      rows.queued,
    ]) {
      const ignored = next(before, { type: 'IGNORE', by: 'anna' }, policy);
      expect(stateOf(next(ignored, { type: 'UNIGNORE' }, policy))).toBe('queued');
    }
  });

  test('a retry of an ignored file whose video was deleted begins with a new record', () => {
    const sent = { ...created, uploadStartedAt: 2, sha256: 'aa', uploadedAt: 3 };
    const ignored = next(
      someFacts({ ...sent, end: 'held', lastFailure: failure('gone') }),
      { type: 'IGNORE', by: 'anna' },
      policy,
    );
    expect(next(ignored, { type: 'RETRY' }, policy)).toMatchObject({ videoId: null, uploadedAt: null, end: null });
  });

  test('a file that failed, is held or waits for a channel, without a video, is sent to the chosen channel', () => {
    const waiting = { notBefore: 9, lastFailure: failure('suspended', { code: 'unknown_channel' }) };
    const ended = { endedAt: 8, lastFailure: failure('permanent', { code: 'not_found' }) };
    for (const other of [{ ...ended, end: 'failed' }, { ...ended, end: 'held' }, waiting] as const) {
      const facts = someFacts(other);
      const after = next(facts, { type: 'SEND_ELSEWHERE', channel: 'ch_other' }, policy);
      expect(stateOf(after)).toBe('queued');
      expect(after.plan).toEqual({ ...somePlan, channel: 'ch_other', chosenChannel: 'ch_other' });
    }
  });

  test('a file that has a video, or is not at rest, stays in its channel', () => {
    const event = { type: 'SEND_ELSEWHERE', channel: 'ch_other' } as const;
    for (const facts of [...Object.values(rows), someFacts({ notBefore: 9, lastFailure: failure('offline') })])
      expect(next(facts, event, policy)).toEqual(facts);
  });

  test('an old failure is not the reason why a file is gone', () => {
    expect(next(rows.retrying, { type: 'FILE_GONE' }, policy).why).toContain('no longer there');
    expect(next(rows.retrying, { type: 'FILE_CHANGED' }, policy).why).toContain('new content');
  });

  test('where the video is watched is recorded once it is ready, and not before', () => {
    const embedUrl = 'https://video.example.com/embed/vid_1';
    const at = (status: string) => next(rows.processing, { type: 'REMOTE_STATUS', status, embedUrl }, policy).embedUrl;
    expect([at('processing'), at('ready')]).toEqual([null, embedUrl]);
  });

  test('the service says why it failed', () => {
    const after = next(rows.processing, { type: 'REMOTE_STATUS', status: 'failed', message: 'no track' }, policy);
    expect(after).toMatchObject({ why: expect.stringMatching(/: no track$/), endedAt: 50 });
  });

  test.each([
    ['keep', 'kept'],
    ['delete', 'pending'],
  ] as const)('after the last feed, %s leaves the local file %s', (kind, disposal) => {
    const facts = someFacts({ ...ready, afterReady: { kind } });
    const after = next(facts, { type: 'PUBLISHED', feed: 'feed_news', at: 9 }, policy);
    expect(after).toMatchObject({ end: 'done', why: null, endedAt: 50, disposal, published: { feed_news: 9 } });
  });

  test('a file with two feeds is done after both', () => {
    const facts = someFacts({ ...ready, plan: { ...somePlan, publish: ['feed_news', 'feed_tv'] } });
    const first = next(facts, { type: 'PUBLISHED', feed: 'feed_tv', at: 9 }, policy);
    expect(stateOf(first)).toBe('awaiting publish');
    expect(stateOf(next(first, { type: 'PUBLISHED', feed: 'feed_news', at: 10 }, policy))).toBe('done');
  });

  test('a feed named twice is published once', () => {
    const facts = someFacts({ ...ready, plan: { ...somePlan, publish: ['feed_tv', 'feed_tv'] } });
    const after = decide('awaiting publish', { facts, policy }, { type: 'PUBLISHED', feed: 'feed_tv', at: 9 });
    expect(after).toMatchObject({ state: 'done', facts: { end: 'done', disposal: 'kept' } });
  });

  test('an event that means nothing is reported, unless it is about the local file', () => {
    const facts = rows['awaiting publish'];
    const isExpected = (event: FileEvent): boolean => decide('awaiting publish', { facts, policy }, event).isExpected;
    expect(isExpected({ type: 'GIVE_UP' })).toBe(false);
    for (const type of ['FILE_GONE', 'FILE_CHANGED'] as const) expect(isExpected({ type })).toBe(true);
  });
});

describe('one decision after the other', () => {
  const context = { facts: rows.queued, policy };

  test('an event that means nothing says nothing about the next one', () => {
    const isExpected = (['PUBLISHED', 'GO', 'PUBLISHED', 'FILE_GONE'] as const).map(
      (type) => decide('queued', context, { type, feed: 'feed_news', at: 1 }).isExpected,
    );
    expect(isExpected).toEqual([false, true, false, true]);
  });
});

test.each(['later', 'pending', 'waiting', 'refused'] as const)(
  'a file that changed after it was done leaves nothing to put away: %s',
  (disposal) => {
    const done = someFacts({ ...ready, ...published, sha256: 'aa', end: 'done', endedAt: 8, disposal });
    const after = next(done, { type: 'FILE_CHANGED', hasGrown: true }, policy);
    expect(after).toMatchObject({ end: 'superseded', why: expect.stringMatching('changed'), disposal: 'kept' });
  },
);

describe('any row whatsoever', () => {
  test('is, after any event, where its facts say', () => {
    fc.assert(
      fc.property(anyFacts, fc.constantFrom(...events), (facts, event) => {
        const { state, facts: after } = decide(stateOf(facts), { facts, policy }, event);
        expect(stateOf(after)).toBe(state);
      }),
      { numRuns: 2_000 },
    );
  });

  test('after any event it is done only if ready and published in every feed', () => {
    fc.assert(
      fc.property(anyFacts, fc.constantFrom(...events), (facts, event) => {
        fc.pre(facts.end !== 'done');
        const after = next(facts, event, policy);
        if (stateOf(after) === 'done') expect([after.readyAt === null, feedsToPublish(after)]).toEqual([false, []]);
      }),
      { numRuns: 500 },
    );
  });
});
