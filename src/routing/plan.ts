import type { Sidecar } from './sidecar.ts';

/** One rule of a folder, from the configuration. */
export interface Rule {
  /** Its key in the configuration, `folders[0].rules[1]`. */
  readonly key: string;
  /** Line in the configuration file, from 1. */
  readonly line: number;
  /** Glob for the path relative to the folder; `{name}` captures within one path segment, `{a,b}` is alternation. */
  readonly match: string;
  readonly channel: string;
  /** Template; `{title}` by default. */
  readonly title: string;
  readonly description: string | null;
  /** Templates; one that is exactly `{dirs}` becomes one tag per sub-folder. */
  readonly tags: readonly string[];
  readonly publish: readonly string[];
  /** Default: normal. */
  readonly priority?: Priority;
}

/** How urgent the files of a rule are. */
export type Priority = 'high' | 'normal' | 'low';

/** The metadata that a rule and a sidecar give one file, to be sent to the service. Fixed when the file is accepted. */
export interface Plan {
  /** The rule that matched, as `folders[0].rules[1]`. */
  readonly rule: string;
  readonly channel: string;
  readonly title: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  /** Feeds to publish once the video is ready. */
  readonly publish: readonly string[];
  /** Default: normal. */
  readonly priority?: Priority;
  /** The operator sent the file to this channel, which rules and sidecars no longer change. */
  readonly chosenChannel?: string;
  /** The channel of its sidecar, which came when the video was already in another one. */
  readonly refusedChannel?: string;
  /** The sidecar that was used, which moves with the file. */
  readonly sidecar?: SidecarFile;
  /** The files that proved that it is complete (a done marker, a checksum), which move with it too. */
  readonly proofs?: readonly SidecarFile[];
}

/** The version of a sidecar, or of another file that moves with its video. */
export interface SidecarFile {
  /** Relative to the folder. */
  readonly path: string;
  /** Hex. */
  readonly sha256: string;
}

/**
 * Why a path has no destination: no rule matches it, or a file next to it (a sidecar) is broken. Kept in the ledger.
 */
export type HoldCode = 'no_rule' | 'sidecar';

/** The destination of a path: by a rule and its sidecar, or held with a reason that the operator can act on. */
export type Route =
  | { readonly kind: 'take'; readonly plan: Plan; readonly said?: Sidecar }
  | { readonly kind: 'held'; readonly code: HoldCode; readonly why: string };
