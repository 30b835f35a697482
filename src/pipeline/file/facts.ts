import type { Plan } from '../../routing/plan.ts';
import type { AfterReady } from '../../config/config.ts';
import type { Failure } from './failure.ts';
import type { FileVersion } from './file-version.ts';

/** The states of a file: the same words in log, command line, page and JSON. */
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

/**
 * One file's life as durable facts: one ledger row. The state is derived from it, never stored by hand. Times are epoch
 * milliseconds.
 */
export interface Facts {
  readonly id: string;
  /** Raised by every write. A write that expects another revision is refused. */
  readonly rev: number;
  /** Absolute path of the watched folder. */
  readonly folder: string;
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly version: FileVersion;
  /** Set for an import: the service fetches this address, and dropcast sends no bytes. */
  readonly sourceUrl: string | null;
  /** `null` only while the file is held because no rule matches or its sidecar is broken. */
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
  /** Headers that the upload address needs: as private as the address. Null: none. */
  readonly uploadHeaders: Readonly<Record<string, string>> | null;
  readonly createdAt: number | null;
  /**
   * Set before the first byte of the first PUT to this video. From then on dropcast asks the service before it repeats
   * the PUT.
   */
  readonly uploadStartedAt: number | null;
  /**
   * SHA-256 (hex) of the body, written before its last part is released. Null: no complete body left this machine, or
   * the service refused it.
   */
  readonly sha256: string | null;
  readonly uploadedAt: number | null;
  /** When the time began that the service has to finish; a `retry` restarts it. */
  readonly processingSince: number | null;
  /** When the upload address was first seen dead. */
  readonly addressDeadAt: number | null;
  /** The video is being deleted to be replaced: only the DELETE may continue. */
  readonly dying: boolean;
  /** How often the video was replaced after its address died. */
  readonly replacements: number;
  /** Last status word of the service, kept as given. */
  readonly remoteStatus: string | null;
  readonly readyAt: number | null;
  /** For each feed, when it was published with this video. */
  readonly published: Readonly<Record<string, number>>;

  /** Counted failures of the current step; a successful step resets it to 0. */
  readonly attempts: number;
  /** Backoff deadline, wall clock. */
  readonly notBefore: number | null;
  readonly end: End | null;
  /** Why the file ended or waits, in words. */
  readonly why: string | null;
  readonly lastFailure: Failure | null;
  readonly endedAt: number | null;

  /** Metadata that a later sidecar changed and that still has to be sent. */
  readonly amendment: Amendment | null;
  /**
   * What remains to do with the local file after `done`: `later` until it is time to delete it, `pending` until the
   * first try, `waiting` while it fails for a reason that may pass (`lastFailure`), then how it ended.
   */
  readonly disposal: 'later' | 'pending' | 'waiting' | 'kept' | 'deleted' | 'moved' | 'refused' | null;
}

export interface Amendment {
  readonly title?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
}

/** The upload address and its headers, without what lets anyone send there: only whether there are any. */
export function redactedAddress({ uploadUrl, uploadHeaders }: Pick<Facts, 'uploadUrl' | 'uploadHeaders'>) {
  return {
    uploadUrl: uploadUrl === null ? null : 'https://redacted.invalid/',
    uploadHeaders: uploadHeaders === null ? null : {},
  };
}

/** The remote side of a file without a video. */
export const unbound = {
  intent: null,
  videoId: null,
  uploadUrl: null,
  uploadHeaders: null,
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

/** The facts of a new file, before anything was requested from the service. */
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
 * Names a record in `suspects` that its file gave up although all of its bytes may have arrived there. dropcast never
 * deletes such a record: the operator decides.
 */
export function givenUpRecord(videoId: string): string {
  return `${givenUpPrefix}${videoId}`;
}

/**
 * The video id of a suspect that `givenUpRecord` made; null means that the suspect is the token of a create request.
 */
export function videoOfSuspect(suspect: string): string | null {
  return suspect.startsWith(givenUpPrefix) ? suspect.slice(givenUpPrefix.length) : null;
}

/** No token has a colon: see `newToken`. */
const givenUpPrefix = 'video:';

/** Tokens of requests that may have left an empty record behind, including the token of the present intent. */
export function suspectsOf(facts: Pick<Facts, 'intent' | 'suspects'>): readonly string[] {
  return facts.intent === null ? facts.suspects : [...facts.suspects, facts.intent];
}

/**
 * The change that removes a token from a row, because the service has no record of that request or the operator says
 * so.
 */
export function withoutToken({ intent, suspects }: Facts, token: string): Pick<Facts, 'intent' | 'suspects'> {
  return { intent: intent === token ? null : intent, suspects: suspects.filter((other) => other !== token) };
}

/**
 * Whether a complete body may have left this machine. From then on the service may have the video although no answer
 * came, so the local file decides nothing before the service was asked.
 */
export function mayHaveArrived(facts: Facts): boolean {
  return facts.uploadedAt !== null || facts.sha256 !== null;
}

/** Whether a row no longer belongs to a file: any file at its path is another one. */
export function isGivenUp({ end }: Pick<Facts, 'end'>): boolean {
  return end === 'superseded' || end === 'vanished';
}

/** Feeds of the plan that have not yet been published with this video. */
export function feedsToPublish(facts: Pick<Facts, 'plan' | 'published'>): readonly string[] {
  return facts.plan?.publish.filter((feed) => !(feed in facts.published)) ?? [];
}

/**
 * The state of a file, derived from its row alone. This is the only way into a state: when the file is first seen,
 * after each step and after a crash. It never returns `creating` or `uploading`, which exist only while a step works on
 * the file.
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
