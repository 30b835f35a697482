import type { QuotaConfig } from './quota.ts';
import type { BandwidthHours } from './bandwidth-hours.ts';
import type { DayWindow } from './day-window.ts';
import type { LedgerAddress } from './ledger-address.ts';
import type { NotifyTarget } from '@dropcast/notify/target';
import type { Problem } from './problem.ts';
import type { Secret } from './secret.ts';
import type { Setting } from './settings.ts';
import type { Rule } from '../routing/plan.ts';

/**
 * The checked configuration that the rest of the program uses. All durations are in milliseconds, all paths are
 * absolute and all defaults are filled in. Only `loadConfig` creates one, from YAML.
 */
export interface Config {
  /** Absolute path of the configuration file. */
  readonly file: string;
  /** Written settings and warnings, for display. */
  readonly source: { readonly written: readonly Setting[]; readonly warnings: readonly Problem[] };
  readonly service: ServiceConfig;
  /** Absolute path of the directory for the ledger and receipts. */
  readonly stateDir: string;
  /** A fleet's database; null for SQLite in the state directory. */
  readonly ledger: LedgerConfig | null;
  /** The name of this fleet member. */
  readonly hostName: string;
  /** Absolute path of `failures.jsonl`: in `$LOGS_DIRECTORY` under systemd, otherwise in the state directory. */
  readonly failureLog: string;
  readonly uploads: {
    /** Maximum simultaneous uploads, 1–32. */
    readonly concurrency: number;
    /** Combined limit for all uploads. */
    readonly bandwidth: BandwidthHours;
    /** When uploads may start; `null` means always. */
    readonly window: DayWindow | null;
    /** An upload that sends no bytes for this long is aborted. */
    readonly stallTimeoutMs: number;
    /** Largest file that is sent, in bytes; Infinity for no limit. */
    readonly maxSizeBytes: number;
    /** Headers for every PUT, by name. */
    readonly headers: Readonly<Record<string, Secret>>;
    /** `Content-Type` for every PUT: `auto`, `none` or a media type. */
    readonly contentType: string;
    /** How the upload hosts receive files. */
    readonly protocol: 'auto' | UploadProtocol;
  };
  /** Attempts per step, and the backoff range. */
  readonly retry: { readonly attempts: number; readonly firstMs: number; readonly maxMs: number };
  readonly poll: { readonly intervalMs: number; readonly giveUpAfterMs: number };
  readonly publish: { readonly quietMs: number; readonly atMostMs: number };
  readonly folders: readonly FolderConfig[];
  readonly status: {
    /** Address of the status page; `null` if it is off. */
    readonly listen: { readonly host: string; readonly port: number } | null;
    /** Additional host names that the status page answers to, in lower case. */
    readonly hosts: readonly string[];
    /** Absolute path of the control socket, with `auto` already resolved. */
    readonly socket: string;
  };
  /** Recipients of notifications. */
  readonly notify: readonly NotifyTarget[];
  readonly log: {
    readonly level: 'error' | 'warn' | 'info' | 'debug';
    readonly format: 'auto' | 'pretty' | 'json' | 'journald';
  };
}

export interface LedgerConfig extends LedgerAddress {
  readonly password: Secret | null;
  /** Trusted certificate authorities as PEM text; null for the system's. */
  readonly ca: string | null;
  readonly tls: boolean;
  /**
   * Why the password or the certificate authorities could not be read, in a command that needs no key; null if they
   * were read or none are configured.
   */
  readonly unread: string | null;
}

/**
 * How the client sends a file. Missing `contentType`: it chooses the type; null: none. Missing `protocol`: it detects
 * one.
 */
export interface SendOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType?: string | null;
  readonly protocol?: UploadProtocol;
}

export type UploadProtocol = 'put' | 'content-range' | 'tus';

export interface ServiceConfig {
  /** `https:`, or `http:` for loopback addresses only. Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  readonly apiKeyFrom: SecretOrigin;
  /** `null` if webhooks are not accepted. */
  readonly webhooks: WebhookConfig | null;
  readonly requestsPerHour: number;
  /** Amounts that the service accepts in a day or month; null for no limit. */
  readonly quota: QuotaConfig | null;
  /** Additional origins that may receive the key. */
  readonly sendKeyTo: readonly string[];
  /** Whether the service creates only one record for create requests with the same `Idempotency-Key`. */
  readonly honoursIdempotencyKey: boolean;
  /** Certificate authorities to trust besides those of the system, for the service and its upload hosts. */
  readonly authorities: AuthoritiesByHost;
}

/** Certificate authorities to trust, as PEM text, by host name, `*.` and a name, or `*`. */
export type AuthoritiesByHost = Readonly<Record<string, string>>;

/** Settings for verifying webhooks. */
export interface WebhookConfig {
  /** `whsec_` and base64 for `standard`; any text for the other schemes. */
  readonly secret: Secret;
  readonly scheme: 'standard' | 'hmac-hex' | 'timestamped';
  /** Name of the signature header; null for the scheme's default. */
  readonly header: string | null;
}

/**
 * Where a secret came from. Files are read again at each reload; environment variables and credentials keep the values
 * they had at startup.
 */
export type SecretOrigin = 'file' | 'environment' | 'credential';

export interface FolderConfig {
  /** Absolute, normalised path. */
  readonly path: string;
  /** The folder's key in the configuration, such as `folders[0]`. */
  readonly key: string;
  /** The folder's name in a fleet, where other hosts watch it too. */
  readonly share?: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly settleMs: number;
  /** Name template of the marker file that declares a video complete; `null` for none. */
  readonly doneMarker: string | null;
  readonly watch: 'auto' | 'native' | 'polling';
  readonly rescanMs: number;
  readonly onDuplicate: 'skip' | 'upload';
  readonly onChange: 'upload' | 'ignore';
  /** What to do with files that exist in the folder when dropcast first watches it. */
  readonly existing: 'upload' | 'ignore' | 'adopt';
  readonly afterReady: AfterReady;
  /** Maximum simultaneous uploads from this folder, 1–32. If absent, only the overall limit applies. */
  readonly uploads?: number;
  /** Files that must be there by a time of day; absent if there are none. */
  readonly expect?: readonly Expectation[];
  readonly rules: readonly Rule[];
}

/** Files that must be in a folder by a time of day. Times are minutes since midnight. */
export interface Expectation {
  /** Glob for the path relative to the folder. */
  readonly match: string;
  readonly by: number;
  /** When files start to count. A time later than `by` is on the day before. */
  readonly from: number;
  /** Days of the week, where 0 is Sunday. */
  readonly days: readonly number[];
  readonly count: number;
  /** IANA time zone name; null for this machine's time zone. */
  readonly zone: string | null;
  readonly until: 'live' | 'arrived';
  readonly graceMs: number;
}

/** What to do with the local file once its video is ready. `move` has a template for a directory inside the folder. */
export type AfterReady =
  | { readonly kind: 'keep' }
  | { readonly kind: 'delete'; readonly later?: DeleteLater }
  | { readonly kind: 'move'; readonly to: string };

/** When to delete a file that is not deleted immediately: as soon as either condition is met. At least one is set. */
export interface DeleteLater {
  /** Milliseconds after the file is done. */
  readonly afterMs: number | null;
  /** Percentage of the file system in use at which to delete, 1–99. */
  readonly whenFull: number | null;
}
