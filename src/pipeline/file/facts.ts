import type { Plan } from '../../routing/plan.ts';
import type { AfterReady } from '../../config/config.ts';
import type { Failure } from './failure.ts';
import type { FileVersion } from './file-version.ts';

/** The states of a file. Log, command line, web page and JSON use these same words. */
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
 * One file's life as durable facts: one ledger row. The file's state is derived from these facts and never stored.
 * Times are epoch milliseconds.
 */
export interface Facts {
  readonly id: string;
  /** Incremented by every write. A write that expects another revision is rejected. */
  readonly rev: number;
  /** Absolute path of the watched folder. */
  readonly folder: string;
  /** Relative to the folder, with `/` as separator. */
  readonly path: string;
  readonly version: FileVersion;
  /** Set for an import: the service fetches the file from this address, and dropcast sends no bytes. */
  readonly sourceUrl: string | null;
  /** `null` only while the file is held because no rule matches or its sidecar is broken. */
  readonly plan: Plan | null;
  readonly onDuplicate: 'skip' | 'upload';
  readonly afterReady: AfterReady;
  readonly discoveredAt: number;
  /** Unix user who owned the file at intake; null: unknown, or no target is chosen by owner. */
  readonly owner: string | null;
  /** When a person put the file first; null: it waits for its turn. */
  readonly firstAt: number | null;

  /** Token of a create request that may be in progress or lost. Written before the request is sent. */
  readonly intent: string | null;
  /** Tokens of create requests that were never answered. The service may hold a record without bytes for each. */
  readonly suspects: readonly string[];
  readonly videoId: string | null;
  readonly uploadUrl: string | null;
  /** Headers that the upload address requires, as secret as the address itself. Null: none required. */
  readonly uploadHeaders: Readonly<Record<string, string>> | null;
  /** State of an upload that can be continued on its host. Null: it starts from the first byte. */
  readonly uploadSession: UploadSession | null;
  readonly createdAt: number | null;
  /**
   * Set before the first byte of the first PUT to this video. From then on dropcast asks the service before repeating
   * the PUT.
   */
  readonly uploadStartedAt: number | null;
  /**
   * SHA-256 (hex) of the body, written before the last part is released. Null: no complete body has left this machine,
   * or the service refused it.
   */
  readonly sha256: string | null;
  readonly uploadedAt: number | null;
  /** Start of the period in which the service must finish processing; a `retry` restarts it. */
  readonly processingSince: number | null;
  /** When the upload address was first found dead. */
  readonly addressDeadAt: number | null;
  /** The video is being deleted so that it can be replaced. Only the DELETE may proceed. */
  readonly dying: boolean;
  /** How many times the video has been replaced after its address died. */
  readonly replacements: number;
  /** The last status the service reported, verbatim. */
  readonly remoteStatus: string | null;
  readonly readyAt: number | null;
  /** Where the video is watched, as the service reported it with `ready`. */
  readonly embedUrl: string | null;
  /** The video's link file, relative to the folder, or why there is none; null: not written yet. */
  readonly linkFile: LinkFile | null;
  /** When each feed was published with this video. */
  readonly published: Readonly<Record<string, number>>;

  /** Counted failures of the current step; reset to 0 when a step succeeds. */
  readonly attempts: number;
  /** Backoff deadline (wall clock). */
  readonly notBefore: number | null;
  readonly end: End | null;
  /** Why the file ended or is waiting, in words. */
  readonly why: string | null;
  readonly lastFailure: Failure | null;
  readonly endedAt: number | null;

  /** Metadata changed by a later sidecar and not sent yet. */
  readonly amendment: Amendment | null;
  /**
   * What remains to be done with the local file after `done`: `later` until it is due for deletion, `pending` until the
   * first attempt, `waiting` while attempts fail for a reason that may pass (`lastFailure`), and then how it ended.
   */
  readonly disposal: 'later' | 'pending' | 'waiting' | 'kept' | 'deleted' | 'moved' | 'refused' | null;
}

/** Whether a link file was written, and where; or why not. */
export type LinkFile = { readonly path: string } | { readonly why: string };

/** An upload that can be continued: the same members as `UploadSession` of the client. */
export interface UploadSession {
  readonly protocol: 'content-range' | 'tus';
  /** Number of bytes that the host has confirmed. */
  readonly offset: number;
  /** Number of bytes that may have been sent, apart from the last part: once it may have been, `sha256` is set. */
  readonly reach: number;
  /** Version of the open file when the bytes were sent; null: unknown. */
  readonly version: string | null;
}

export interface Amendment {
  readonly title?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
}

/** Returns the upload address and its headers with everything secret removed. Only their presence remains visible. */
export function redactedAddress({ uploadUrl, uploadHeaders }: Pick<Facts, 'uploadUrl' | 'uploadHeaders'>) {
  return {
    uploadUrl: uploadUrl === null ? null : 'https://redacted.invalid/',
    uploadHeaders: uploadHeaders === null ? null : {},
  };
}

/** The service-side fields of a file that has no video. */
export const unbound = {
  intent: null,
  videoId: null,
  uploadUrl: null,
  uploadHeaders: null,
  uploadSession: null,
  createdAt: null,
  uploadStartedAt: null,
  sha256: null,
  uploadedAt: null,
  processingSince: null,
  addressDeadAt: null,
  dying: false,
  remoteStatus: null,
  readyAt: null,
  embedUrl: null,
  linkFile: null,
} as const satisfies Partial<Facts>;

/** Returns the facts of a new file, before anything has been requested from the service. */
export function newFacts(
  seen: Pick<
    Facts,
    'id' | 'folder' | 'path' | 'version' | 'sourceUrl' | 'plan' | 'onDuplicate' | 'afterReady' | 'discoveredAt'
  > &
    Partial<Pick<Facts, 'owner'>>,
): Facts {
  return {
    ...unbound,
    owner: null,
    ...seen,
    rev: 0,
    firstAt: null,
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
 * Returns the `suspects` entry for a record that its file gave up although all of its bytes may have arrived. dropcast
 * never deletes such a record; the operator decides.
 */
export function givenUpRecord(videoId: string): string {
  return `${givenUpPrefix}${videoId}`;
}

/**
 * Returns the video id of a suspect made by `givenUpRecord`, or null if the suspect is the token of a create request.
 */
export function videoOfSuspect(suspect: string): string | null {
  return suspect.startsWith(givenUpPrefix) ? suspect.slice(givenUpPrefix.length) : null;
}

/** Cannot clash with a token, because tokens contain no colon (see `newToken`). */
const givenUpPrefix = 'video:';

/** Returns the tokens of requests that may have left an empty record behind, including the current intent. */
export function suspectsOf(facts: Pick<Facts, 'intent' | 'suspects'>): readonly string[] {
  return facts.intent === null ? facts.suspects : [...facts.suspects, facts.intent];
}

/**
 * Returns the change that removes a token from a row, for when the service has no record of that request or the
 * operator has confirmed that there is none.
 */
export function withoutToken({ intent, suspects }: Facts, token: string): Pick<Facts, 'intent' | 'suspects'> {
  return { intent: intent === token ? null : intent, suspects: suspects.filter((other) => other !== token) };
}

/**
 * Whether a complete body may have left this machine. If so, the service may have the video even though no answer
 * arrived, so dropcast asks the service before it acts on the state of the local file.
 */
export function mayHaveArrived(facts: Facts): boolean {
  return facts.uploadedAt !== null || facts.sha256 !== null;
}

/** Whether a row no longer belongs to a file. Any file now at its path is a different one. */
export function isGivenUp({ end }: Pick<Facts, 'end'>): boolean {
  return end === 'superseded' || end === 'vanished';
}

/** Returns the feeds of the plan that have not been published with this video yet. */
export function feedsToPublish(facts: Pick<Facts, 'plan' | 'published'>): readonly string[] {
  return facts.plan?.publish.filter((feed) => !(feed in facts.published)) ?? [];
}

/**
 * Derives the state of a file from its row alone: when the file is first seen, after each step and after a crash. There
 * is no other way into a state. Never returns `creating` or `uploading`, which exist only while a step is working on
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
