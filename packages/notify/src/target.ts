/** What people can be told about. `recovered`: anything that was told is over. */
export const newsKinds = [
  'live',
  'needs_you',
  'recovered',
  'folder_away',
  'host_silent',
  'paused',
  'key_refused',
  'feed_failed',
  'budget',
  'missing',
  'daily',
] as const;

export type NewsKind = (typeof newsKinds)[number];

/** Whom to tell what. */
export type NotifyTarget = MessageTarget | HeartbeatTarget;

/** Somebody who gets messages. */
export type MessageTarget = Common &
  (
    | {
        readonly type: 'webhook';
        readonly url: Secret;
        readonly token: Secret | null;
        readonly headers: Readonly<Record<string, Secret>>;
      }
    | {
        readonly type: 'ntfy';
        readonly url: string;
        readonly topic: Secret;
        readonly token: Secret | null;
        readonly priority: 'auto' | 'min' | 'low' | 'default' | 'high' | 'max';
      }
    | {
        readonly type: 'email';
        readonly smtp: SmtpServer;
        readonly user: string | null;
        readonly password: Secret | null;
        readonly from: string;
        readonly to: readonly string[];
      }
    | { readonly type: 'command'; readonly argv: readonly string[] }
  );

/** A value that nothing prints by accident: only `reveal()` gives it. */
interface Secret {
  reveal(): string;
}

/** A mail server. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** `tls` from the first byte; `starttls` before anything else is said; `plain` for a server on this machine. */
  readonly security: 'tls' | 'starttls' | 'plain';
}

/** A part of each day by the local time, in minutes since midnight; over midnight when `to` is not after `from`. */
export interface DayWindow {
  readonly from: number;
  readonly to: number;
}

interface Common {
  readonly name: string;
  readonly timeoutMs: number;
  readonly on: readonly NewsKind[];
  /** When nothing is sent. */
  readonly quiet: DayWindow | null;
  readonly daily: {
    /** Minutes since midnight. */
    readonly at: number;
    readonly isForIdleDays: boolean;
  };
}

/** An address that is asked as long as all is well: who does not hear from it knows that this machine is dead. */
export interface HeartbeatTarget {
  readonly type: 'heartbeat';
  readonly name: string;
  readonly url: Secret;
  readonly everyMs: number;
  /** A path to add, a query to set, or null: nothing is asked while something is wrong. */
  readonly fail: string | null;
  readonly timeoutMs: number;
}
