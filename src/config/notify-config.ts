import type { DayWindow } from './day-window.ts';
import type { NewsKind } from './schema-notify.ts';
import type { Secret } from './secret.ts';
import type { SmtpServer } from './smtp-address.ts';

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
