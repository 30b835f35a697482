import type { Failure, FailureKind } from './failure.ts';

export type Success =
  /** The record exists, and its upload address is stored durably. */
  | 'bound'
  /** The service fetches the file itself. */
  | 'imported'
  /** A deletion was cancelled, because only the service may have the bytes. */
  | 'kept'
  | 'arrived'
  /** The record must be deleted and replaced. */
  | 'replacing'
  /** The record was deleted before any bytes left, so the file needs a new one. */
  | 'started over';

export type Setback =
  | 'vanished'
  /** The local file has new content. */
  | 'changed'
  /** The same content was uploaded earlier. */
  | 'duplicate'
  | 'refused'
  /** Only the operator can decide what to do. */
  | 'needs a person'
  /** The file is not at fault: network, rate limit, account or disk. */
  | 'put off'
  /** The service may have carried out the request although no usable answer arrived. */
  | 'in doubt'
  | 'address dead'
  /** Any other failure that may pass. */
  | 'attempt failed';

/** How a step ended, as an event for the machine. Everything the step learned is already in the row. */
export type Outcome = { readonly type: Success } | { readonly type: Setback; readonly failure: Failure };

/** Classifies a failure by its meaning for the life of the file (design section 8). Pure. */
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
