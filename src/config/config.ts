import type { BandwidthHours } from './bandwidth-hours.ts';
import type { DayWindow } from './day-window.ts';
import type { LedgerAddress } from './ledger-address.ts';
import type { NotifyTarget } from '@dropcast/notify/target';
import type { Problem } from './problem.ts';
import type { Secret } from './secret.ts';
import type { Setting } from './settings.ts';
import type { Rule } from '../routing/plan.ts';

/**
 * The checked configuration, which the rest of the program reads. Every duration is in milliseconds, every path
 * absolute, every default filled in. Only `loadConfig` creates one, from YAML.
 */
export interface Config {
  /** Absolute path of its file. */
  readonly file: string;
  /** For display: the written settings and the warnings. */
  readonly source: { readonly written: readonly Setting[]; readonly warnings: readonly Problem[] };
  readonly service: ServiceConfig;
  /** Absolute directory of ledger and receipts. */
  readonly stateDir: string;
  /** The database of a fleet; null: SQLite in the state directory. */
  readonly ledger: LedgerConfig | null;
  /** This member of the fleet. */
  readonly hostName: string;
  /** Absolute path of `failures.jsonl`: in `$LOGS_DIRECTORY` under systemd, otherwise in the state directory. */
  readonly failureLog: string;
  readonly uploads: {
    /** Uploads at the same time, 1–32. */
    readonly concurrency: number;
    /** Limit for all uploads together. */
    readonly bandwidth: BandwidthHours;
    /** When uploads may start; `null` is always. */
    readonly window: DayWindow | null;
    /** An upload without a moving byte for this long is aborted. */
    readonly stallTimeoutMs: number;
    /** Headers of every PUT, by name. */
    readonly headers: Readonly<Record<string, Secret>>;
    /** The `Content-Type` of every PUT: `auto`, `none` or a media type. */
    readonly contentType: string;
  };
  /** Tries per step, and the range of the backoff. */
  readonly retry: { readonly attempts: number; readonly firstMs: number; readonly maxMs: number };
  readonly poll: { readonly intervalMs: number; readonly giveUpAfterMs: number };
  readonly publish: { readonly quietMs: number; readonly atMostMs: number };
  readonly folders: readonly FolderConfig[];
  readonly status: {
    /** Where the page listens; `null` is off. */
    readonly listen: { readonly host: string; readonly port: number } | null;
    /** Further names under which the page answers, in lower case. */
    readonly hosts: readonly string[];
    /** Control socket, absolute: `auto` is resolved. */
    readonly socket: string;
  };
  /** The recipients of notifications. */
  readonly notify: readonly NotifyTarget[];
  readonly log: {
    readonly level: 'error' | 'warn' | 'info' | 'debug';
    readonly format: 'auto' | 'pretty' | 'json' | 'journald';
  };
}

export interface LedgerConfig extends LedgerAddress {
  readonly password: Secret | null;
  /** PEM text of the authorities to trust; null: those of the system. */
  readonly ca: string | null;
  readonly tls: boolean;
  /**
   * Why a command that needs no key could not read the password or the authorities; null: it could, or there are none.
   */
  readonly unread: string | null;
}

export interface ServiceConfig {
  /** `https:`, or `http:` for loopback addresses only. Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  readonly apiKeyFrom: SecretOrigin;
  /** `null` when no webhooks are accepted. */
  readonly webhooks: WebhookConfig | null;
  readonly requestsPerHour: number;
  /** Further origins that may receive the key. */
  readonly sendKeyTo: readonly string[];
  /** The service makes one record for all create requests with the same `Idempotency-Key`. */
  readonly honoursIdempotencyKey: boolean;
}

/** How to verify webhooks. */
export interface WebhookConfig {
  /** `whsec_` and base64 for `standard`, any text for the other schemes. */
  readonly secret: Secret;
  readonly scheme: 'standard' | 'hmac-hex' | 'timestamped';
  /** Of the signature; null: that of the scheme. */
  readonly header: string | null;
}

/** Where a secret came from. Each reload reads files again; the other two stay as they were at the start. */
export type SecretOrigin = 'file' | 'environment' | 'credential';

export interface FolderConfig {
  /** Absolute, normalised. */
  readonly path: string;
  /** Its key in the configuration, `folders[0]`. */
  readonly key: string;
  /** Its name in a fleet, where other hosts watch it too. */
  readonly share?: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly settleMs: number;
  /** Template for the name of the file that marks another one as complete; `null`: no marker. */
  readonly doneMarker: string | null;
  readonly watch: 'auto' | 'native' | 'polling';
  readonly rescanMs: number;
  readonly onDuplicate: 'skip' | 'upload';
  readonly onChange: 'upload' | 'ignore';
  /** What happens to files that exist in the folder when dropcast first watches it. */
  readonly existing: 'upload' | 'ignore' | 'adopt';
  readonly afterReady: AfterReady;
  /** Uploads of this folder at the same time, 1–32; without it, only the limit of all folders counts. */
  readonly uploads?: number;
  /** Files that must be there by a time of day; without it, none. */
  readonly expect?: readonly Expectation[];
  readonly rules: readonly Rule[];
}

/** Files of a folder that must be there by a time of day. Times of day are minutes since midnight. */
export interface Expectation {
  /** Glob for the path relative to the folder. */
  readonly match: string;
  readonly by: number;
  /** When files start to count; a time later than `by` means the day before. */
  readonly from: number;
  /** Days of the week; 0 is Sunday. */
  readonly days: readonly number[];
  readonly count: number;
  /** IANA name; null: the time zone of this machine. */
  readonly zone: string | null;
  readonly until: 'live' | 'arrived';
  readonly graceMs: number;
}

/** What happens to the local file once its video is ready; `move` is a template for a directory inside the folder. */
export type AfterReady =
  | { readonly kind: 'keep' }
  | { readonly kind: 'delete'; readonly later?: DeleteLater }
  | { readonly kind: 'move'; readonly to: string };

/** When a file is deleted that is not deleted at once: at the first of these. At least one is set. */
export interface DeleteLater {
  /** Milliseconds after the file was done. */
  readonly afterMs: number | null;
  /** Once this percentage of its file system is in use, 1–99. */
  readonly whenFull: number | null;
}
