import { assign, setup, transition } from 'xstate';
import type { SnapshotFrom } from 'xstate';
import { isCounted } from './backoff.ts';
import { feedsToPublish, mayHaveArrived, stateOf } from './facts.ts';
import type { End, Facts, FileState } from './facts.ts';
import { finished } from './finished.ts';
import { failureOfThrown } from './failure.ts';
import type { Failure } from './failure.ts';
import type { Outcome } from './outcome.ts';
import {
  adopted,
  condemned,
  deletedOnService,
  fresh,
  gaveUp,
  heldAgain,
  ignoredBy,
  isBeingAdopted,
  isBeingTakenBack,
  isIgnored,
  mayBeTakenBack,
  notAdopted,
  rearmed,
  remoteFailed,
  saysNothingArrived,
  stillTried,
  takenBack,
  waitsForChannel,
  wasThereBefore,
} from './reasons.ts';

export interface MachinePolicy {
  /** Counted failures of one step after which the file is `failed`. */
  readonly attempts: number;
  /** When to try a file with this many failures again (epoch milliseconds). */
  retryAt(attempts: number, failure: Failure): number;
  /** Epoch milliseconds. */
  now(): number;
}

/** Events that may reach a file while no step is working on it. */
export type FileEvent =
  /** A lane has a free slot, or the backoff has expired. */
  | { readonly type: 'GO' }
  | { readonly type: 'REMOTE_STATUS'; readonly status: string; readonly message?: string; readonly embedUrl?: string }
  | { readonly type: 'REMOTE_GONE' }
  /** `poll.give_up_after` has passed, and the service has not finished. */
  | { readonly type: 'GIVE_UP' }
  | { readonly type: 'PUBLISHED'; readonly feed: string; readonly at: number }
  /** A feed refused to be published. A failure that may pass is only recorded, and the file keeps waiting. */
  | { readonly type: 'PUBLISH_FAILED'; readonly failure: Failure }
  | { readonly type: 'FILE_GONE' }
  /** `hasGrown`: the same file is now larger, so dropcast sent only its beginning. */
  | { readonly type: 'FILE_CHANGED'; readonly hasGrown?: boolean }
  /** The service no longer has a usable video of the file that this file duplicates. */
  | { readonly type: 'TWIN_FELL'; readonly twin: string }
  /** The operator confirmed that this video on the service is this file. */
  | { readonly type: 'ADOPTED'; readonly videoId: string }
  | { readonly type: 'RETRY' }
  /** The operator sends a failed or held file to a channel other than the one in its rule. */
  | { readonly type: 'SEND_ELSEWHERE'; readonly channel: string }
  /** The operator does not want the file uploaded. @see ignoredBy */
  | { readonly type: 'IGNORE'; readonly by: string }
  | { readonly type: 'UNIGNORE' }
  /** The operator takes back the upload: this video is about to be deleted. */
  | { readonly type: 'TAKE_BACK'; readonly videoId: string; readonly by: string }
  /** The service no longer has the video of an upload that was taken back. */
  | { readonly type: 'VIDEO_DELETED' }
  /** The video of an upload that was to be taken back stays, because only the service has what is in it. */
  | { readonly type: 'VIDEO_KEPT'; readonly why: string };

interface Context {
  readonly facts: Facts;
  readonly policy: MachinePolicy;
}

/** An action that changes some facts. */
const patch = <P extends object | undefined = undefined>(change: (context: Context, params: P) => Partial<Facts>) =>
  assign<Context, FileEvent | Outcome, P, FileEvent | Outcome, never>({
    facts: ({ context }, params) => ({ ...context.facts, ...change(context, params) }),
  });

const machineSetup = setup({
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- this is how xstate is told its types
  types: {} as { context: Context; events: FileEvent | Outcome; input: Context },
  actions: {
    /** Marks an event that is meaningless in this state. `decide` reports the action and never runs it. */
    ignore: () => undefined,
    succeed: patch(() => ({ attempts: 0, lastFailure: null })),
    takeFailure: patch(({ facts }, { failure }: { failure: Failure }) => ({
      lastFailure: { ...stillTried(facts), ...failure },
    })),
    takeStatus: patch(({ policy }, { status, embedUrl }: { status: string; embedUrl: string | null }) => ({
      remoteStatus: status,
      ...(status === 'ready' && { readyAt: policy.now(), embedUrl }),
    })),
    takePublished: patch(({ facts }, { feed, at }: { feed: string; at: number }) => ({
      published: { ...facts.published, [feed]: at },
      attempts: 0,
      lastFailure: null,
    })),
    backOff: patch(({ facts, policy }) => {
      const failure = facts.lastFailure ?? failureOfThrown('no failure');
      const attempts = facts.attempts + (isCounted(failure) ? 1 : 0);
      return { attempts, notBefore: policy.retryAt(Math.max(1, attempts), failure) };
    }),
    clearBackoff: patch(() => ({ notBefore: null })),
    rearm: patch(({ facts, policy }) => rearmed(facts, policy.now())),
    choose: patch(({ facts }, { channel }: { channel: string }) => ({
      plan: facts.plan && { ...facts.plan, channel, chosenChannel: channel },
    })),
    awaken: patch(() => fresh),
    adopt: patch(({ policy }, { videoId }: { videoId: string }) => adopted(videoId, policy.now())),
    disown: patch(() => notAdopted),
    leaveOut: patch(({ facts }, { by }: { by: string }) => ({ lastFailure: ignoredBy(by, facts) })),
    holdAgain: patch(({ facts }) => ({ lastFailure: heldAgain(facts) })),
    condemn: patch(({ facts }, { by }: { by: string }) => condemned(facts, `taken back by ${by}`)),
    forgetVideo: patch(({ facts }) => takenBack(facts)),
    reprieve: patch(() => ({ ...fresh, dying: false })),
    /** Clears the cause and time of an earlier end, so that the new end records its own. */
    reopen: patch(() => ({ why: null, endedAt: null })),
    finish: patch(({ facts, policy }, { end }: { end: End }) => finished(facts, end, policy.now())),
  },
  guards: {
    leftOff: ({ context }, { at }: { at: FileState }) => stateOf(context.facts) === at,
    isLastAttempt: ({ context }) => context.facts.attempts + 1 >= context.policy.attempts,
    hasNotLeft: ({ context }) => !mayHaveArrived(context.facts),
    wasSentInPart: ({ context: { facts }, event }) =>
      event.type === 'FILE_CHANGED' &&
      event.hasGrown === true &&
      facts.uploadedAt !== null &&
      facts.sha256 !== null &&
      !isBeingTakenBack(facts),
    isItsVideo: ({ context: { facts } }, { videoId }: { videoId: string }) =>
      facts.videoId === videoId && mayBeTakenBack(facts),
    isBeingTakenBack: ({ context }) => isBeingTakenBack(context.facts),
    mayStartAgain: ({ context: { facts } }) => facts.plan !== null && !isBeingTakenBack(facts),
    saysNothingArrived: ({ context }) => saysNothingArrived(context.facts),
    hasRule: ({ context }) => context.facts.plan !== null,
    mayBeChosenFor: ({ context: { facts } }) => facts.plan !== null && facts.videoId === null,
    waitsForChannel: ({ context: { facts } }) => waitsForChannel(facts) && facts.videoId === null,
    wasThereBefore: ({ context }) => wasThereBefore(context.facts),
    wasHeldBefore: ({ context: { facts } }) => isIgnored(facts) && heldAgain(facts) !== null,
    isIgnoredWithRule: ({ context: { facts } }) => isIgnored(facts) && facts.plan !== null,
    isBeingAdopted: ({ context }) => isBeingAdopted(context.facts),
    isAdopted: ({ context, event }) => isBeingAdopted(context.facts) && isReady(event),
    isReadyWithoutFeeds: ({ context, event }) => isReady(event) && feedsToPublish(context.facts).length === 0,
    isReady: ({ event }) => isReady(event),
    mayNotPass: ({ event }) => event.type === 'PUBLISH_FAILED' && event.failure.kind === 'permanent',
    isFailed: ({ event }) => event.type === 'REMOTE_STATUS' && event.status === 'failed',
    isLastFeed: ({ context }, { feed }: { feed: string }) => {
      const feeds = feedsToPublish(context.facts);
      return feeds.includes(feed) && feeds.every((other) => other === feed);
    },
    isItsTwin: ({ context }, { twin }: { twin: string }) => context.facts.lastFailure?.twin === twin,
    isItsFeed: ({ context }, { feed }: { feed: string }) => feedsToPublish(context.facts).includes(feed),
  },
});

function isReady(event: FileEvent | Outcome): boolean {
  return event.type === 'REMOTE_STATUS' && event.status === 'ready';
}

const end = (name: End) => ({ type: 'finish' as const, params: { end: name } });
const leftOff = (at: FileState) => ({ type: 'leftOff' as const, params: { at } });

type WithFailure = { readonly event: { readonly failure: Failure } };
const takeFailure = {
  type: 'takeFailure' as const,
  params: ({ event }: WithFailure) => ({ failure: event.failure }),
};

const counted = [
  { guard: 'isLastAttempt', target: 'failed', actions: takeFailure },
  { target: 'retrying', actions: [takeFailure, 'backOff'] },
] as const;

/** The failures that any step may return, with the failure policy of design section 8. */
const setbacks = {
  vanished: { target: 'vanished', actions: takeFailure },
  changed: { target: 'superseded', actions: takeFailure },
  refused: { target: 'failed', actions: takeFailure },
  'needs a person': { target: 'held', actions: takeFailure },
  'put off': { target: 'retrying', actions: [takeFailure, 'backOff'] },
  'in doubt': counted,
  'attempt failed': counted,
} as const;

/** How events about the local file are handled until any of its bytes may have left. */
const whileHere = {
  FILE_GONE: { guard: 'hasNotLeft', target: 'vanished' },
  FILE_CHANGED: { guard: 'hasNotLeft', target: 'superseded' },
} as const;

/**
 * A file that had grown after it was sent is superseded. The operator deletes the partial video, which the row names.
 */
const halfVideo = { guard: 'wasSentInPart', actions: 'reopen' } as const;

/**
 * An ignored file is skipped. Once its bytes may have been sent, the service decides; before that, its empty record is
 * deleted (docs/decisions/0035).
 */
const ignore = {
  target: 'skipped',
  actions: ['reopen', { type: 'leaveOut', params: ({ event: { by } }: { event: { by: string } }) => ({ by }) }],
} as const;
const ignoreUnlessSent = { ...ignore, guard: 'hasNotLeft' } as const;

/** Only allowed before there is a video, because a video's channel cannot be changed (api-spec 4.1). */
const sendElsewhere = {
  guard: 'mayBeChosenFor',
  target: 'resuming',
  actions: [
    {
      type: 'choose',
      params: ({ event: { channel } }: { event: { channel: string } }) => ({ channel }),
    },
    'rearm',
  ],
} as const;

/** Holds a file whose video disappeared after the operator had adopted it. */
const notTheVideo = { guard: 'isBeingAdopted', target: 'held', actions: 'disown' } as const;

type WithFeed = { readonly event: { readonly feed: string; readonly at: number } };
const takePublished = {
  type: 'takePublished' as const,
  params: ({ event: { feed, at } }: WithFeed) => ({ feed, at }),
};
const feedOf = ({ event: { feed } }: WithFeed) => ({ feed });

type WithStatus = {
  readonly event: { readonly status: string; readonly message?: string; readonly embedUrl?: string };
};
const takeStatus = {
  type: 'takeStatus' as const,
  params: ({ event: { status, embedUrl } }: WithStatus) => ({ status, embedUrl: embedUrl ?? null }),
};

/**
 * The life of one file, as policy: no I/O, clock or randomness. A file's state is derived from its ledger row
 * (`stateOf`) and never restored from a snapshot (docs/decisions/0001). Nothing runs inside the machine: `decide` asks
 * it for the next state, and the runner does the work of that state. Read it from the top; the normal course comes
 * first.
 */
export const fileMachine = machineSetup.createMachine({
  id: 'file',
  options: { maxIterations: 100 },
  context: ({ input }) => input,
  initial: 'queued',
  // Once its bytes may have left, the local file may change or disappear without effect, unless it was sent before it
  // was complete.
  on: {
    FILE_GONE: {},
    FILE_CHANGED: [{ ...halfVideo, target: '.superseded' }, {}],
    '*': { actions: 'ignore' },
  },
  states: {
    queued: { on: { GO: 'creating', IGNORE: ignoreUnlessSent, ...whileHere } },
    creating: {
      description: 'A step of create: makes the record.',
      on: {
        bound: { target: 'awaiting upload', actions: 'succeed' },
        imported: { target: 'processing', actions: 'succeed' },
        kept: { target: 'resuming', actions: 'succeed' },
        duplicate: { target: 'skipped', actions: takeFailure },
        ...setbacks,
      },
    },
    'awaiting upload': { on: { GO: 'uploading', IGNORE: ignoreUnlessSent, ...whileHere } },
    uploading: {
      description: 'A step of upload: sends the bytes.',
      on: {
        arrived: { target: 'processing', actions: 'succeed' },
        'address dead': counted,
        replacing: { target: 'queued', actions: 'succeed' },
        'started over': { target: 'queued', actions: 'succeed' },
        duplicate: { target: 'skipped', actions: takeFailure },
        ...setbacks,
      },
    },
    processing: {
      description: 'The sweep asks for all of them at once. No slot is held.',
      on: {
        REMOTE_STATUS: [
          { guard: 'isAdopted', target: 'done', actions: ['reopen', takeStatus] },
          notTheVideo,
          { guard: 'isReadyWithoutFeeds', target: 'done', actions: takeStatus },
          { guard: 'isReady', target: 'awaiting publish', actions: takeStatus },
          {
            guard: 'isFailed',
            target: 'failed',
            actions: [
              takeStatus,
              { type: 'takeFailure', params: ({ event }) => ({ failure: remoteFailed(event.message) }) },
            ],
          },
          { target: 'processing', actions: takeStatus },
        ],
        REMOTE_GONE: [
          notTheVideo,
          { target: 'held', actions: { type: 'takeFailure', params: { failure: deletedOnService } } },
        ],
        GIVE_UP: [
          notTheVideo,
          {
            target: 'failed',
            actions: { type: 'takeFailure', params: ({ context }) => ({ failure: gaveUp(context.facts) }) },
          },
        ],
        RETRY: { guard: 'saysNothingArrived', target: 'resuming', actions: 'rearm' },
      },
    },
    'awaiting publish': {
      description: 'One publish takes all files of a feed.',
      on: {
        PUBLISHED: [
          { guard: { type: 'isLastFeed', params: feedOf }, target: 'done', actions: takePublished },
          { guard: { type: 'isItsFeed', params: feedOf }, target: 'awaiting publish', actions: takePublished },
        ],
        PUBLISH_FAILED: [
          { guard: 'mayNotPass', target: 'failed', actions: takeFailure },
          { target: 'awaiting publish', actions: takeFailure },
        ],
      },
    },
    done: {
      entry: end('done'),
      on: {
        REMOTE_GONE: {
          target: 'held',
          actions: ['reopen', { type: 'takeFailure', params: { failure: deletedOnService } }],
        },
        FILE_CHANGED: { ...halfVideo, target: 'superseded' },
        TAKE_BACK: {
          guard: { type: 'isItsVideo', params: ({ event: { videoId } }) => ({ videoId }) },
          target: 'skipped',
          actions: ['reopen', { type: 'condemn', params: ({ event: { by } }) => ({ by }) }],
        },
        '*': {},
      },
    },
    retrying: {
      on: {
        GO: { target: 'resuming', actions: 'clearBackoff' },
        RETRY: { target: 'resuming', actions: 'rearm' },
        SEND_ELSEWHERE: { ...sendElsewhere, guard: 'waitsForChannel' },
        IGNORE: ignoreUnlessSent,
        ...whileHere,
      },
    },
    resuming: {
      description: 'Goes on where its facts say that it left off.',
      always: [
        { guard: leftOff('awaiting upload'), target: 'awaiting upload' },
        { guard: leftOff('processing'), target: 'processing' },
        { guard: leftOff('awaiting publish'), target: 'awaiting publish' },
        { guard: leftOff('done'), target: 'done' },
        { target: 'queued' },
      ],
    },
    failed: {
      entry: end('failed'),
      on: {
        RETRY: { target: 'resuming', actions: 'rearm' },
        SEND_ELSEWHERE: sendElsewhere,
        IGNORE: ignore,
        FILE_CHANGED: { target: 'superseded', actions: 'reopen' },
      },
    },
    held: {
      entry: end('held'),
      on: {
        RETRY: { guard: 'hasRule', target: 'resuming', actions: 'rearm' },
        SEND_ELSEWHERE: sendElsewhere,
        IGNORE: ignore,
        ADOPTED: {
          guard: 'wasThereBefore',
          target: 'processing',
          actions: { type: 'adopt', params: ({ event: { videoId } }) => ({ videoId }) },
        },
        FILE_GONE: { guard: 'hasNotLeft', target: 'vanished', actions: 'reopen' },
        FILE_CHANGED: { target: 'superseded', actions: 'reopen' },
      },
    },
    skipped: {
      entry: end('skipped'),
      on: {
        RETRY: { guard: 'mayStartAgain', target: 'resuming', actions: 'rearm' },
        VIDEO_DELETED: { guard: 'isBeingTakenBack', target: 'skipped', actions: 'forgetVideo' },
        VIDEO_KEPT: { guard: 'isBeingTakenBack', target: 'resuming', actions: 'reprieve' },
        UNIGNORE: [
          { guard: 'wasHeldBefore', target: 'held', actions: ['reopen', 'holdAgain'] },
          { guard: 'isIgnoredWithRule', target: 'resuming', actions: 'rearm' },
        ],
        TWIN_FELL: {
          guard: { type: 'isItsTwin', params: ({ event }) => ({ twin: event.twin }) },
          target: 'resuming',
          actions: 'awaken',
        },
      },
    },
    vanished: {
      description: 'The same file coming back re-arms it.',
      entry: end('vanished'),
      on: { RETRY: { target: 'resuming', actions: 'rearm' } },
    },
    superseded: { type: 'final', entry: end('superseded') },
  },
});

/** The next state of a file and its facts in that state. */
export interface Decision {
  readonly state: FileState;
  readonly facts: Facts;
  /** False if the event has no meaning in that state, which is a bug. */
  readonly isExpected: boolean;
}

/**
 * Returns what an event or the outcome of a step means for a file. Pure.
 *
 * @param at the state of the file: `stateOf` its facts, or the step that is working on it
 * @throws when the machine breaks, which is a bug
 */
export function decide(at: FileState, context: Context, event: FileEvent | Outcome): Decision {
  const before = fileMachine.resolveState({ value: at, context });
  if (before.status === 'done') return { state: at, facts: context.facts, isExpected: true };
  const [after, actions] = transition(fileMachine, before, event);
  if (after.status === 'error')
    throw new Error(`the file machine broke on ${event.type} in ${at}`, { cause: after.error });
  // xstate has applied the assignments and returns all other actions, of which `ignore` is the only one.
  return { state: valueOf(after), facts: after.context.facts, isExpected: actions.length === 0 };
}

function valueOf({ value }: SnapshotFrom<typeof fileMachine>): FileState {
  if (value === 'resuming') throw new Error('a file cannot stay in a state that only leads on');
  return value;
}
