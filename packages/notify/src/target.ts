/** Kinds of notifications. `recovered` announces the end of a trouble that was announced. */
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

/** A notification target as configured. */
export type NotifyTarget = MessageTarget | HeartbeatTarget;

/** A target that receives messages. */
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

/** A value that is never printed by accident, because only `reveal()` returns it. */
interface Secret {
  reveal(): string;
}

/** Connection settings of a mail server. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** `tls` from the first byte; `starttls` before any other command; `plain` for a server on this machine. */
  readonly security: 'tls' | 'starttls' | 'plain';
}

/** Part of each day in local minutes since midnight. It spans midnight if `to` is not after `from`. */
export interface DayWindow {
  readonly from: number;
  readonly to: number;
}

interface Common {
  readonly name: string;
  readonly timeoutMs: number;
  readonly on: readonly NewsKind[];
  /** Hours during which nothing is sent. */
  readonly quiet: DayWindow | null;
  readonly daily: {
    /** Minutes since midnight. */
    readonly at: number;
    readonly isForIdleDays: boolean;
  };
}

/** An address that is requested while all is well. A monitor that misses the requests reports this machine as dead. */
export interface HeartbeatTarget {
  readonly type: 'heartbeat';
  readonly name: string;
  readonly url: Secret;
  readonly everyMs: number;
  /** A path to append or a query to set while something is wrong; null to send no request then. */
  readonly fail: string | null;
  readonly timeoutMs: number;
}
