import type { Failure, FailureKind } from './failure.ts';

/** The result of a step that succeeded. */
export type Success =
  /** The record exists and its upload address is durable. */
  | 'bound'
  /** The service fetches the file itself. */
  | 'imported'
  /** A deletion was cancelled: only the service may have the bytes. */
  | 'kept'
  /** The service has all bytes. */
  | 'arrived'
  /** The record is to be deleted and replaced. */
  | 'replacing'
  /** The record was deleted before any bytes left: the file needs a new one. */
  | 'started over';

/** The result of a step that did not succeed. */
export type Setback =
  /** The local file is no longer there. */
  | 'vanished'
  /** The local file has new content. */
  | 'changed'
  /** The same content was uploaded before. */
  | 'duplicate'
  /** Asking again cannot help. */
  | 'refused'
  /** Only the operator can decide what to do. */
  | 'needs a person'
  /** Not this file's fault: network, rate limit, account, disk. */
  | 'put off'
  /** The service may have carried out the request although no usable answer came. */
  | 'in doubt'
  | 'address dead'
  /** Any other failure that may pass. */
  | 'attempt failed';

/** How a step ended, as an event of the machine. The row already has everything that the step learned. */
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
