import type { Sidecar } from './sidecar.ts';

/** One rule of a folder, as the configuration gives it. */
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
  /** Without it, normal. */
  readonly priority?: Priority;
}

/** How urgent the files of a rule are. */
export type Priority = 'high' | 'normal' | 'low';

/** What a rule and a sidecar say about one file, to be sent to the service. Fixed when the file is accepted. */
export interface Plan {
  /** The rule that took it, as `folders[0].rules[1]`. */
  readonly rule: string;
  readonly channel: string;
  readonly title: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  /** Feeds to publish once the video is ready. */
  readonly publish: readonly string[];
  /** Without it, normal. */
  readonly priority?: Priority;
  /** A person sent it to this channel: rules and sidecars have no say in that any more. */
  readonly chosenChannel?: string;
  /** What its sidecar said when the video was in another channel already. */
  readonly refusedChannel?: string;
  /** The sidecar that had its say, which goes with the file. */
  readonly sidecar?: SidecarFile;
  /** What proved that it is complete (a done marker, a checksum), which goes with it too. */
  readonly proofs?: readonly SidecarFile[];
}

/** Which bytes a sidecar was, or another file that goes with its video. */
export interface SidecarFile {
  /** Relative to the folder. */
  readonly path: string;
  /** Hex. */
  readonly sha256: string;
}

/** Why a path goes nowhere: no rule matches it, or what lies beside it (a sidecar) is broken. Kept in the ledger. */
export type HoldCode = 'no_rule' | 'sidecar';

/** Where a path goes: taken by a rule and what its sidecar said, or held with a reason a person can act on. */
export type Route =
  | { readonly kind: 'take'; readonly plan: Plan; readonly said?: Sidecar }
  | { readonly kind: 'held'; readonly code: HoldCode; readonly why: string };
