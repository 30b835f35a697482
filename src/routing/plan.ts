import type { Sidecar } from './sidecar.ts';

export interface Rule {
  /** The rule's key in the configuration, such as `folders[0].rules[1]`. */
  readonly key: string;
  /** Line number in the configuration file, from 1. */
  readonly line: number;
  /** Glob for the path relative to the folder. `{name}` captures within one path segment; `{a,b}` is alternation. */
  readonly match: string;
  readonly channel: string;
  /** Title template; `{title}` by default. */
  readonly title: string;
  readonly description: string | null;
  /** Tag templates. A template that is exactly `{dirs}` becomes one tag per sub-folder. */
  readonly tags: readonly string[];
  readonly publish: readonly string[];
  /** Upload priority; `normal` if omitted. */
  readonly priority?: Priority;
  /** When its files must be ready; absent: at no particular time. */
  readonly readyBy?: ReadyBy;
  /** Who is notified about its files; absent: as the folder says. */
  readonly notify?: People;
}

/** Names of notification targets for the people who drop files. */
export interface People {
  /** Targets by the file's Unix owner. */
  readonly owners: Readonly<Record<string, string>>;
  /** Targets for files of all other owners. */
  readonly others: readonly string[];
}

/** When a file must be ready: so long after its arrival, or at the next such time of day, in minutes since midnight. */
export type ReadyBy = { readonly afterMs: number } | { readonly minutes: number; readonly zone: string };

/** Priority of a rule's files in the upload queue. */
export type Priority = 'high' | 'normal' | 'low';

/** A file's metadata for the service, from its rule and sidecar. Fixed when the file is accepted. */
export interface Plan {
  /** Key of the rule that matched, such as `folders[0].rules[1]`. */
  readonly rule: string;
  readonly channel: string;
  readonly title: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  /** Feeds to publish to once the video is ready. */
  readonly publish: readonly string[];
  /** Upload priority; `normal` if omitted. */
  readonly priority?: Priority;
  /** When the video must be ready; absent: at no particular time. */
  readonly readyBy?: ReadyBy;
  /** Channel chosen by the operator. Rules and sidecars no longer change it. */
  readonly chosenChannel?: string;
  /** Channel from a sidecar that arrived too late, when the video was already in another channel. */
  readonly refusedChannel?: string;
  /** The sidecar that was used. It moves with the file. */
  readonly sidecar?: SidecarFile;
  /** Files that proved the video complete (a done marker, a checksum). They also move with it. */
  readonly proofs?: readonly SidecarFile[];
}

/** One version of a sidecar, or of another file that moves with its video. */
export interface SidecarFile {
  /** Path relative to the folder. */
  readonly path: string;
  /** Digest of the content, in hex. */
  readonly sha256: string;
}

/**
 * Why a path has no destination: no rule matches it, or a file next to it (such as a sidecar) is broken. Stored in the
 * ledger.
 */
export type HoldCode = 'no_rule' | 'sidecar';

/** What routing decides for a path: accepted with a plan, or held for a reason that the operator can fix. */
export type Route =
  | { readonly kind: 'take'; readonly plan: Plan; readonly said?: Sidecar }
  | { readonly kind: 'held'; readonly code: HoldCode; readonly why: string };
