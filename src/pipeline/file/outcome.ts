import type { Failure, FailureKind } from './failure.ts';

/** What a step did. */
export type Success =
  /** The record stands, its upload address is durable. */
  | 'bound'
  /** The service fetches the file by itself. */
  | 'imported'
  /** A deletion was called off: the bytes may be on the service alone. */
  | 'kept'
  /** The service has all bytes. */
  | 'arrived'
  /** The record is to be deleted and replaced. */
  | 'replacing'
  /** The record went before the bytes had left: a new one is in order. */
  | 'started over';

/** Why a step did not do it. */
export type Setback =
  /** The local file is no longer there. */
  | 'vanished'
  /** The local file has new content. */
  | 'changed'
  /** The same content was uploaded before. */
  | 'duplicate'
  /** Asking again cannot help. */
  | 'refused'
  /** Only a person can tell what to do. */
  | 'needs a person'
  /** Not this file's fault: network, rate limit, account, disk. */
  | 'put off'
  /** The service may have carried out the request although no usable answer came. */
  | 'in doubt'
  | 'address dead'
  /** Any other failure that may pass. */
  | 'attempt failed';

/** How a step ended, as the machine hears it. What the step learned is in the row by then. */
export type Outcome = { readonly type: Success } | { readonly type: Setback; readonly failure: Failure };

/** Pure: what a failure means for the life of the file (design section 8). */
export function setback(failure: Failure): Outcome {
  const type = meaning[failure.kind];
  return { type: type === 'attempt failed' && failure.inDoubt === true ? 'in doubt' : type, failure };
}

const meaning: Readonly<Record<FailureKind, Setback>> = {
  vanished: 'vanished',
  changed: 'changed',
  duplicate: 'duplicate',
  permanent: 'refused',
  gone: 'needs a person',
  unclear: 'needs a person',
  mismatch: 'needs a person',
  offline: 'put off',
  throttled: 'put off',
  suspended: 'put off',
  'address dead': 'address dead',
  transient: 'attempt failed',
  bug: 'attempt failed',
};
