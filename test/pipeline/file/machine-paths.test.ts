import { describe, expect, test } from 'vitest';
import { feedsToPublish, mayHaveArrived, stateOf, unbound } from '../../../src/pipeline/file/facts.ts';
import type { Facts, FileState } from '../../../src/pipeline/file/facts.ts';
import { isBeingTakenBack } from '../../../src/pipeline/file/reasons.ts';
import type { FailureKind } from '../../../src/pipeline/file/failure.ts';
import { decide, fileMachine } from '../../../src/pipeline/file/machine.ts';
import type { FileEvent, MachinePolicy } from '../../../src/pipeline/file/machine.ts';
import { setback } from '../../../src/pipeline/file/outcome.ts';
import type { Outcome } from '../../../src/pipeline/file/outcome.ts';
import { failure, someFacts } from '../some-facts.ts';

const policy: MachinePolicy = { attempts: 2, retryAt: () => 999, now: () => 5 };

const kinds: readonly FailureKind[] = [
  'transient',
  'offline',
  'address dead',
  'permanent',
  'gone',
  'duplicate',
  'vanished',
  'changed',
  'unclear',
  'bug',
];

interface Place {
  readonly state: FileState;
  readonly facts: Facts;
}

interface Move {
  readonly event: FileEvent | Outcome;
  /** What the step wrote before it ended. */
  readonly facts: Facts;
}

const outside: readonly FileEvent[] = [
  { type: 'GO' },
  { type: 'REMOTE_STATUS', status: 'ready' },
  { type: 'REMOTE_STATUS', status: 'failed' },
  { type: 'REMOTE_GONE' },
  { type: 'GIVE_UP' },
  { type: 'PUBLISHED', feed: 'feed_news', at: 9 },
  { type: 'PUBLISH_FAILED', failure: failure('permanent') },
  { type: 'FILE_GONE' },
  { type: 'FILE_CHANGED' },
  { type: 'RETRY' },
  { type: 'IGNORE', by: 'anna' },
  { type: 'TAKE_BACK', videoId: 'v', by: 'anna' },
  { type: 'VIDEO_DELETED' },
  { type: 'VIDEO_KEPT', why: 'edited' },
];

/** How a step may end, with what it wrote before. */
function endsOf({ state, facts }: Place): readonly Move[] {
  const setbacks = (written: Facts, step: 'creating' | 'uploading'): readonly Move[] =>
    kinds
      .filter((kind) => kind !== (step === 'creating' ? 'address dead' : 'duplicate'))
      .map((kind) => ({ event: setback(failure(kind)), facts: written }));
  if (state === 'creating') {
    const bound: Facts = { ...facts, ...unbound, videoId: 'v', uploadUrl: 'u', remoteStatus: 'pending' };
    const kept: readonly Move[] = facts.dying ? [{ event: { type: 'kept' }, facts: { ...facts, dying: false } }] : [];
    return [{ event: { type: 'bound' }, facts: bound }, ...kept, ...setbacks(facts, state)];
  }
  if (state !== 'uploading') return [];
  const sent: Facts = { ...facts, uploadStartedAt: 3, sha256: 'aa', uploadedAt: 4, processingSince: 4 };
  return [
    { event: { type: 'arrived' }, facts: sent },
    { event: { type: 'replacing' }, facts: { ...facts, dying: true } },
    { event: { type: 'started over' }, facts: { ...facts, ...unbound } },
    ...setbacks({ ...facts, sha256: 'aa' }, state),
  ];
}

/** Every place that a file can get to, from the very beginning. */
function everyPlace(): readonly Place[] {
  const found = new Map<string, Place>();
  const open: Place[] = [{ state: 'queued', facts: someFacts() }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { lastFailure, why: _why, ...rest } = place.facts;
    const key = JSON.stringify([place.state, { ...rest, suspects: [] }, lastFailure?.kind]);
    if (found.has(key)) continue;
    found.set(key, place);
    const { state, facts } = place;
    const isStep = state === 'creating' || state === 'uploading';
    const moves = isStep ? endsOf(place) : outside.map((event) => ({ event, facts }));
    for (const move of moves) open.push(decide(state, { facts: move.facts, policy }, move.event));
  }
  return [...found.values()];
}

describe('every place that a file can get to', () => {
  const places = everyPlace();

  test('is one of all states, and none but the one that leads on is missing', () => {
    expect(places.length).toBeGreaterThan(500);
    const reached = new Set<string>(places.map(({ state }) => state));
    const resting = Object.keys(fileMachine.states).filter((state) => state !== 'resuming');
    expect([...reached].toSorted()).toEqual(resting.toSorted());
  });

  test('keeps what its state promises', () => {
    for (const { state, facts } of places) {
      const said = `${state} ${JSON.stringify(facts)}`;
      const promises: Readonly<Record<string, boolean>> = {
        done: facts.readyAt !== null && feedsToPublish(facts).length === 0 && facts.disposal !== null,
        uploading: facts.uploadUrl !== null && facts.uploadedAt === null && !facts.dying,
        creating: facts.videoId === null || facts.dying,
        processing: facts.uploadedAt !== null && facts.readyAt === null,
        'awaiting publish': facts.readyAt !== null && feedsToPublish(facts).length > 0,
        retrying: facts.notBefore !== null && facts.lastFailure !== null && facts.attempts < policy.attempts,
        vanished: !mayHaveArrived(facts) || facts.lastFailure?.kind === 'vanished',
      };
      expect(promises[state] ?? true, said).toBe(true);
      expect(facts.end === null || facts.endedAt !== null, said).toBe(true);
      expect(facts.end === null || facts.notBefore === null, said).toBe(true);
      expect(facts.readyAt === null || !facts.dying || isBeingTakenBack(facts), said).toBe(true);
    }
  });

  test('is found again from its facts alone, after a crash', () => {
    const parked: Readonly<Record<string, string>> = { creating: 'queued', uploading: 'awaiting upload' };
    for (const { state, facts } of places) expect(stateOf(facts)).toBe(parked[state] ?? state);
  });
});
