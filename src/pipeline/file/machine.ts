import { assign, fromPromise, setup } from 'xstate';
import { isCounted } from './backoff.ts';
import { rearmed, reasonOf, remoteFailed } from './endings.ts';
import { feedsToPublish, mayHaveArrived, stateOf } from './facts.ts';
import type { End, Facts } from './facts.ts';
import { failureOfThrown } from './failure.ts';
import type { Failure, FailureKind } from './failure.ts';

/** What a step comes back with: the row as it now is in the ledger, and the failure if there was one. */
export interface Outcome {
  readonly facts: Facts;
  readonly failure: Failure | null;
}

/** All the machine asks of its world. */
export interface MachinePolicy {
  readonly attempts: number;
  /** Wall-clock time before which a file that failed so often is not tried again. */
  retryAt(attempts: number, failure: Failure): number;
  now(): number;
  /** An event that means nothing in this state: a mistake of ours, worth a line in the log. */
  unexpected(event: string, facts: Facts): void;
}

export type FileEvent =
  /** A lane has a slot, or the backoff deadline has passed. */
  | { type: 'GO' }
  | { type: 'REMOTE_STATUS'; status: string; message?: string }
  | { type: 'REMOTE_GONE' }
  /** The service was given `poll.give_up_after` and is still not done. */
  | { type: 'GIVE_UP' }
  | { type: 'PUBLISHED'; feed: string; at: number }
  | { type: 'PUBLISH_FAILED'; failure: Failure }
  | { type: 'FILE_GONE' }
  | { type: 'FILE_CHANGED' }
  | { type: 'RETRY' };

interface Context {
  readonly facts: Facts;
  readonly policy: MachinePolicy;
}

const notProvided = (name: string) => (): Promise<never> =>
  Promise.reject(new Error(`step "${name}" was not provided`));

const machineSetup = setup({
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- this is how xstate is told its types
  types: {} as {
    context: Context;
    events: FileEvent;
    input: Context;
    tags: 'parked';
  },
  actors: {
    createRecord: fromPromise<Outcome, Facts>(notProvided('createRecord')),
    uploadFile: fromPromise<Outcome, Facts>(notProvided('uploadFile')),
  },
  actions: {
    report: ({ context, event }) => context.policy.unexpected(event.type, context.facts),
    takeOutcome: assign({
      facts: (_, { outcome }: { outcome: Outcome }) =>
        outcome.failure === null
          ? { ...outcome.facts, attempts: 0, lastFailure: null }
          : { ...outcome.facts, lastFailure: outcome.failure },
    }),
    takeFailure: assign({
      facts: ({ context }, { failure }: { failure: Failure }) => ({ ...context.facts, lastFailure: failure }),
    }),
    takeStatus: assign({
      facts: ({ context: { facts, policy } }, { status }: { status: string }) => ({
        ...facts,
        remoteStatus: status,
        readyAt: status === 'ready' ? policy.now() : facts.readyAt,
      }),
    }),
    takePublished: assign({
      facts: ({ context: { facts } }, { feed, at }: { feed: string; at: number }) => ({
        ...facts,
        published: { ...facts.published, [feed]: at },
        attempts: 0,
        lastFailure: null,
      }),
    }),
    backOff: assign({
      facts: ({ context: { facts, policy } }) => {
        const failure = facts.lastFailure ?? failureOfThrown('no failure');
        const attempts = facts.attempts + (isCounted(failure) ? 1 : 0);
        return { ...facts, attempts, notBefore: policy.retryAt(Math.max(1, attempts), failure) };
      },
    }),
    clearBackoff: assign({ facts: ({ context }) => ({ ...context.facts, notBefore: null }) }),
    rearm: assign({
      facts: ({ context: { facts, policy } }) => ({ ...facts, ...rearmed(facts, policy.now()) }),
    }),
    /** One end follows another: why and when are those of the last. */
    reopen: assign({ facts: ({ context }) => ({ ...context.facts, why: null, endedAt: null }) }),
    finish: assign({
      facts: ({ context: { facts, policy } }, { end }: { end: End }) => ({
        ...facts,
        end,
        notBefore: null,
        why: facts.why ?? reasonOf(end, facts),
        endedAt: facts.endedAt ?? policy.now(),
        disposal:
          end === 'done' ? (facts.disposal ?? (facts.afterReady.kind === 'keep' ? 'kept' : 'pending')) : facts.disposal,
      }),
    }),
  },
  guards: {
    stands: ({ context }, { at }: { at: string }) => stateOf(context.facts) === at,
    succeeded: ({ context }) => context.facts.lastFailure === null,
    failedAs: ({ context }, { kinds }: { kinds: readonly FailureKind[] }) =>
      context.facts.lastFailure !== null && kinds.includes(context.facts.lastFailure.kind),
    exhausted: ({ context }) => context.facts.attempts + 1 >= context.policy.attempts,
    isStillHere: ({ context }) => !mayHaveArrived(context.facts),
    isRouted: ({ context }) => context.facts.plan !== null,
    isStatus: (_, { status, is }: { status: string; is: string }) => status === is,
    isWanted: ({ context }, { feed }: { feed: string }) => feedsToPublish(context.facts).includes(feed),
  },
});

const end = (name: End) => ({ type: 'finish' as const, params: { end: name } });
const stands = (at: string) => ({ type: 'stands' as const, params: { at } });
const failedAs = (...kinds: FailureKind[]) => ({ type: 'failedAs' as const, params: { kinds } });

/** What the local file means as long as none of its bytes can have left. */
const whileHere = {
  FILE_GONE: { guard: 'isStillHere', target: 'vanished' },
  FILE_CHANGED: { guard: 'isStillHere', target: 'superseded' },
} as const;

/** A state in which a step works: what it comes back with is taken over, and says where it goes on. */
const step = (src: 'createRecord' | 'uploadFile') =>
  machineSetup.createStateConfig({
    invoke: {
      src,
      input: ({ context }) => context.facts,
      onDone: {
        target: 'assess',
        actions: { type: 'takeOutcome', params: ({ event }) => ({ outcome: event.output }) },
      },
      onError: {
        target: 'assess',
        actions: { type: 'takeFailure', params: ({ event }) => ({ failure: failureOfThrown(event.error) }) },
      },
    },
  });

/**
 * The life of one file, as policy: no I/O, clock or random. Its state is derived from the ledger row by `route`, never
 * restored from a snapshot, which would lose timers and repeat requests with old input (docs/decisions/0001).
 */
export const fileMachine = machineSetup.createMachine({
  id: 'file',
  options: { maxIterations: 100 },
  context: ({ input }) => ({ facts: input.facts, policy: input.policy }),
  initial: 'route',
  // Once the bytes may have left, the local file may change or go without meaning anything.
  on: { FILE_GONE: {}, FILE_CHANGED: {}, '*': { actions: 'report' } },
  states: {
    route: {
      description: 'Derives the state from the facts: at first sight, after each step, after a crash.',
      always: [
        { guard: stands('failed'), target: 'failed' },
        { guard: stands('held'), target: 'held' },
        { guard: stands('skipped'), target: 'skipped' },
        { guard: stands('vanished'), target: 'vanished' },
        { guard: stands('superseded'), target: 'superseded' },
        { guard: stands('done'), target: 'done' },
        { guard: stands('retrying'), target: 'retrying' },
        { guard: stands('awaiting publish'), target: 'awaiting publish' },
        { guard: stands('processing'), target: 'processing' },
        { guard: stands('awaiting upload'), target: 'awaiting upload' },
        { target: 'queued' },
      ],
    },
    queued: {
      tags: ['parked'],
      on: { GO: 'creating', ...whileHere },
    },
    creating: step('createRecord'),
    'awaiting upload': {
      tags: ['parked'],
      on: { GO: 'uploading', ...whileHere },
    },
    uploading: step('uploadFile'),
    processing: {
      description: 'The sweep asks for all of them at once; no slot is held.',
      tags: ['parked'],
      on: {
        REMOTE_STATUS: [
          {
            guard: { type: 'isStatus', params: ({ event }) => ({ status: event.status, is: 'failed' }) },
            target: 'failed',
            actions: [
              { type: 'takeStatus', params: ({ event }) => ({ status: event.status }) },
              { type: 'takeFailure', params: ({ event }) => ({ failure: remoteFailed(event.message) }) },
            ],
          },
          { target: 'route', actions: { type: 'takeStatus', params: ({ event }) => ({ status: event.status }) } },
        ],
        REMOTE_GONE: {
          target: 'held',
          actions: {
            type: 'takeFailure',
            params: {
              failure: {
                kind: 'gone',
                code: 'not_found',
                message: 'the video was deleted on the service; `dropcast retry` uploads it again',
              },
            },
          },
        },
        GIVE_UP: {
          target: 'failed',
          actions: {
            type: 'takeFailure',
            params: {
              failure: {
                kind: 'permanent',
                code: 'gave_up',
                message: 'the service did not finish processing in time; `dropcast retry` waits again',
              },
            },
          },
        },
      },
    },
    'awaiting publish': {
      description: 'The publisher takes all files of a feed at once.',
      tags: ['parked'],
      on: {
        PUBLISHED: {
          guard: { type: 'isWanted', params: ({ event }) => ({ feed: event.feed }) },
          target: 'route',
          actions: { type: 'takePublished', params: ({ event }) => ({ feed: event.feed, at: event.at }) },
        },
        PUBLISH_FAILED: {
          target: 'assess',
          actions: { type: 'takeFailure', params: ({ event }) => ({ failure: event.failure }) },
        },
      },
    },
    assess: {
      description: 'The failure policy of design section 8.',
      always: [
        { guard: 'succeeded', target: 'route' },
        { guard: failedAs('vanished'), target: 'vanished' },
        { guard: failedAs('changed'), target: 'superseded' },
        { guard: failedAs('duplicate'), target: 'skipped' },
        { guard: failedAs('gone', 'unclear'), target: 'held' },
        { guard: failedAs('permanent'), target: 'failed' },
        { guard: failedAs('offline', 'throttled', 'suspended'), target: 'retrying', actions: 'backOff' },
        { guard: 'exhausted', target: 'failed' },
        { target: 'retrying', actions: 'backOff' },
      ],
    },
    retrying: {
      tags: ['parked'],
      on: {
        GO: { target: 'route', actions: 'clearBackoff' },
        RETRY: { target: 'route', actions: 'rearm' },
        ...whileHere,
      },
    },
    failed: {
      tags: ['parked'],
      entry: end('failed'),
      on: {
        RETRY: { target: 'route', actions: 'rearm' },
        FILE_CHANGED: { target: 'superseded', actions: 'reopen' },
      },
    },
    held: {
      tags: ['parked'],
      entry: end('held'),
      on: {
        RETRY: { guard: 'isRouted', target: 'route', actions: 'rearm' },
        FILE_GONE: { guard: 'isStillHere', target: 'vanished', actions: 'reopen' },
        FILE_CHANGED: { target: 'superseded', actions: 'reopen' },
      },
    },
    skipped: {
      tags: ['parked'],
      entry: end('skipped'),
      on: { RETRY: { target: 'route', actions: 'rearm' } },
    },
    vanished: {
      description: 'The same file coming back re-arms it.',
      tags: ['parked'],
      entry: end('vanished'),
      on: { RETRY: { target: 'route', actions: 'rearm' } },
    },
    superseded: { type: 'final', tags: ['parked'], entry: end('superseded') },
    done: { type: 'final', tags: ['parked'], entry: end('done') },
  },
});
