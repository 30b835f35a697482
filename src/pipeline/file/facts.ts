import type { Plan } from '../../routing/plan.ts';
import type { AfterReady } from '../../config/config.ts';
import type { Failure } from './failure.ts';
import type { FileVersion } from './file-version.ts';

/** The words for where a file stands: the same in log, command line, page and JSON. */
export type FileState =
  | 'queued'
  | 'creating'
  | 'awaiting upload'
  | 'uploading'
  | 'processing'
  | 'awaiting publish'
  | 'retrying'
  | End;

export type End = 'done' | 'failed' | 'held' | 'skipped' | 'vanished' | 'superseded';

/** One file's life as durable facts: one ledger row. The state is derived from it, never stored by hand. Times are epoch milliseconds. */
export interface Facts {
  readonly id: string;
  /** Raised by every write; a write that expects another one is refused. */
  readonly rev: number;
  /** Absolute path of the watched folder. */
  readonly folder: string;
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly version: FileVersion;
  /** Set for an import: the service fetches this address, no bytes are sent by us. */
  readonly sourceUrl: string | null;
  /** `null` only while held because no rule takes it or its sidecar is broken. */
  readonly plan: Plan | null;
  readonly onDuplicate: 'skip' | 'upload';
  readonly afterReady: AfterReady;
  readonly discoveredAt: number;

  /** Token of a create request that may be under way or lost. Written before the request. */
  readonly intent: string | null;
  /** Tokens of create requests whose answer never came: the service may hold a record without bytes for each. */
  readonly suspects: readonly string[];
  readonly videoId: string | null;
  readonly uploadUrl: string | null;
  readonly createdAt: number | null;
  /** Set before the first byte of the first PUT to this video: from then on the service is asked before a repeat. */
  readonly uploadStartedAt: number | null;
  /** SHA-256 (hex) of the body, written before the last part of it is released. Null: no complete body left that was not refused. */
  readonly sha256: string | null;
  readonly uploadedAt: number | null;
  /** When the service's time to finish began; a `retry` restarts it. */
  readonly processingSince: number | null;
  /** When the upload address was first seen dead. */
  readonly addressDeadAt: number | null;
  /** The video is being deleted to be replaced: only the DELETE may go on. */
  readonly dying: boolean;
  /** How often the video was replaced after its address died. */
  readonly replacements: number;
  /** Last status word of the service, kept as given. */
  readonly remoteStatus: string | null;
  readonly readyAt: number | null;
  /** Feed → when it was published with this video. */
  readonly published: Readonly<Record<string, number>>;

  /** Of the current step; a success of a step sets it to 0. */
  readonly attempts: number;
  /** Backoff deadline, wall clock. */
  readonly notBefore: number | null;
  readonly end: End | null;
  /** Why it ended or waits, in words. */
  readonly why: string | null;
  readonly lastFailure: Failure | null;
  readonly endedAt: number | null;

  /** Metadata that a later sidecar changed and that still has to be sent. */
  readonly amendment: Amendment | null;
  /**
   * What is left to do with the local file after `done`: `later` until it is time to delete it, `pending` until it is tried, `waiting`
   * while it fails for a reason that may pass (`lastFailure`), then how it ended.
   */
  readonly disposal: 'later' | 'pending' | 'waiting' | 'kept' | 'deleted' | 'moved' | 'refused' | null;
}

export interface Amendment {
  readonly title?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
}

/** The remote side of a file that has no video (any more). */
export const unbound = {
  intent: null,
  videoId: null,
  uploadUrl: null,
  createdAt: null,
  uploadStartedAt: null,
  sha256: null,
  uploadedAt: null,
  processingSince: null,
  addressDeadAt: null,
  dying: false,
  remoteStatus: null,
  readyAt: null,
} as const satisfies Partial<Facts>;

/** A file as it is first seen, before anything was asked of the service. */
export function newFacts(
  seen: Pick<
    Facts,
    'id' | 'folder' | 'path' | 'version' | 'sourceUrl' | 'plan' | 'onDuplicate' | 'afterReady' | 'discoveredAt'
  >,
): Facts {
  return {
    ...unbound,
    ...seen,
    rev: 0,
    suspects: [],
    replacements: 0,
    published: {},
    attempts: 0,
    notBefore: null,
    end: null,
    why: null,
    lastFailure: null,
    endedAt: null,
    amendment: null,
    disposal: null,
  };
}

/**
 * Names a record in `suspects` that its file gave up although all of the file may have arrived there. Such a record is never deleted:
 * a person looks.
 */
export function givenUpRecord(videoId: string): string {
  return `${givenUpPrefix}${videoId}`;
}

/** The video id of a suspect that `givenUpRecord` made; null: it is the token of a create request. */
export function videoOfSuspect(suspect: string): string | null {
  return suspect.startsWith(givenUpPrefix) ? suspect.slice(givenUpPrefix.length) : null;
}

/** No token has a colon: see `newToken`. */
const givenUpPrefix = 'video:';

/** Tokens of requests that may have left a record without bytes behind, the one of the present intent included. */
export function suspectsOf(facts: Pick<Facts, 'intent' | 'suspects'>): readonly string[] {
  return facts.intent === null ? facts.suspects : [...facts.suspects, facts.intent];
}

/** What a row loses with a token: the service has no record of that request, or a person says so. */
export function withoutToken({ intent, suspects }: Facts, token: string): Pick<Facts, 'intent' | 'suspects'> {
  return { intent: intent === token ? null : intent, suspects: suspects.filter((other) => other !== token) };
}

/**
 * Whether a complete body may have left this machine: from then on the service may have the video although no answer came,
 * and what becomes of the local file decides nothing before the service was asked.
 */
export function mayHaveArrived(facts: Facts): boolean {
  return facts.uploadedAt !== null || facts.sha256 !== null;
}

/** Whether a row stands for no file any more: whatever is at its path is not its file. */
export function isGivenUp({ end }: Pick<Facts, 'end'>): boolean {
  return end === 'superseded' || end === 'vanished';
}

/** Feeds of the plan that were not yet published with this video. */
export function feedsToPublish(facts: Pick<Facts, 'plan' | 'published'>): readonly string[] {
  return facts.plan?.publish.filter((feed) => !(feed in facts.published)) ?? [];
}

/**
 * Where a file stands, from its row alone. This is the only way into a state: at first sight, after each step and after a
 * crash. `creating` and `uploading` are never the answer: they exist only while an actor lives.
 */
export function stateOf(facts: Facts): Exclude<FileState, 'creating' | 'uploading'> {
  if (facts.end !== null) return facts.end;
  if (facts.notBefore !== null) return 'retrying';
  if (facts.dying) return 'queued';
  if (facts.readyAt !== null) return feedsToPublish(facts).length === 0 ? 'done' : 'awaiting publish';
  if (facts.uploadedAt !== null) return 'processing';
  if (facts.videoId !== null && facts.uploadUrl !== null) return 'awaiting upload';
  return 'queued';
}
