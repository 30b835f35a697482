import { beforeAll, describe, expect, test } from 'vitest';
import { initialTransition } from 'xstate';
import type { SnapshotFrom } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { fileMachine } from '../../../src/pipeline/file/machine.ts';
import type { FileEvent, MachinePolicy, Outcome } from '../../../src/pipeline/file/machine.ts';
import { feedsToPublish, mayHaveArrived, stateOf, unbound } from '../../../src/pipeline/file/facts.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { FailureKind } from '../../../src/pipeline/file/failure.ts';
import { failure, someFacts } from '../some-facts.ts';

const policy: MachinePolicy = { attempts: 2, retryAt: () => 999, now: () => 5, unexpected: () => undefined };

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

type Snapshot = SnapshotFrom<typeof fileMachine>;

/** What a step may come back with, as xstate tells it. The step wrote these facts before. */
function ends(step: 'creating' | 'uploading', successes: readonly Facts[], facts: Facts): object[] {
  const actorId = `0.file.${step}`;
  const ended = (output: Outcome): object => ({ type: `xstate.done.actor.${actorId}`, output, actorId });
  return [
    ...successes.map((after) => ended({ facts: after, failure: null })),
    ...kinds.map((kind) => ended({ facts, failure: failure(kind) })),
    { type: `xstate.error.actor.${actorId}`, error: new Error('boom'), actorId },
  ];
}

function eventsIn(snapshot: Snapshot): FileEvent[] {
  const { facts } = snapshot.context;
  const bound: Facts = { ...facts, ...unbound, videoId: 'v', uploadUrl: 'u', remoteStatus: 'pending' };
  const sent: Facts = { ...facts, uploadStartedAt: 3, sha256: 'aa', uploadedAt: 4, processingSince: 4 };
  const steps = [
    ...(snapshot.matches('creating') ? ends('creating', [bound, { ...facts, dying: false }], facts) : []),
    ...(snapshot.matches('uploading')
      ? ends('uploading', [sent, { ...facts, dying: true }, { ...facts, ...unbound }], { ...facts, sha256: 'aa' })
      : []),
  ];
  const outside: FileEvent[] = [
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
  ];
  return [...outside, ...(steps as FileEvent[])];
}

describe('every snapshot that the machine can reach', () => {
  let snapshots: readonly Snapshot[] = [];

  beforeAll(() => {
    const paths = getShortestPaths(fileMachine, {
      input: { facts: someFacts(), policy },
      events: eventsIn,
      serializeState: ({ value, context: { facts } }) => {
        const { lastFailure, why: _why, ...rest } = facts;
        return JSON.stringify([value, { ...rest, suspects: [] }, lastFailure?.kind]);
      },
      limit: 100_000,
    });
    snapshots = paths.map(({ state }) => state);
  });

  test('is in one of all states, and none but the two that pass through is missing', () => {
    expect(snapshots.length).toBeGreaterThan(500);
    const reached = new Set(snapshots.map(({ value }) => value));
    const resting = Object.keys(fileMachine.states).filter((state) => state !== 'route' && state !== 'assess');
    expect([...reached].toSorted()).toEqual(resting.toSorted());
  });

  test('keeps what its state promises', () => {
    for (const { value, context } of snapshots) {
      const { facts } = context;
      const said = `${value} ${JSON.stringify(facts)}`;
      const promises: Readonly<Record<string, boolean>> = {
        done: facts.readyAt !== null && feedsToPublish(facts).length === 0 && facts.disposal !== null,
        uploading: facts.uploadUrl !== null && facts.uploadedAt === null && !facts.dying,
        creating: facts.videoId === null || facts.dying,
        processing: facts.uploadedAt !== null && facts.readyAt === null,
        'awaiting publish': facts.readyAt !== null && feedsToPublish(facts).length > 0,
        retrying: facts.notBefore !== null && facts.lastFailure !== null && facts.attempts < policy.attempts,
        vanished: !mayHaveArrived(facts) || facts.lastFailure?.kind === 'vanished',
      };
      expect(promises[value] ?? true, said).toBe(true);
      expect(facts.end === null || facts.endedAt !== null, said).toBe(true);
      expect(facts.end === null || facts.notBefore === null, said).toBe(true);
      expect(facts.readyAt === null || !facts.dying, said).toBe(true);
    }
  });

  test('is found again from its facts alone, after a crash', () => {
    const parked: Readonly<Record<string, string>> = { creating: 'queued', uploading: 'awaiting upload' };
    for (const { value, context } of snapshots) {
      const [restored] = initialTransition(fileMachine, context);
      expect(restored.value).toBe(parked[value] ?? value);
      expect(stateOf(context.facts)).toBe(restored.value);
    }
  });
});
