import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Config } from '../../config/config.ts';
import { serviceOf } from '../../config/installed-service.ts';
import type { InstalledService } from '../../config/installed-service.ts';
import { unlessHung } from '../../unless-hung.ts';
import type { StatusView } from '../../view/picture/documents.ts';
import { placeOf, queryRunningDaemon } from '../control.ts';
import type { DaemonPlace } from '../control.ts';
import { readConfig } from '../read-config.ts';
import type { CheckedConfig } from '../read-config.ts';
import { onRefusal } from '../shell.ts';
import type { Shell } from '../shell.ts';

/**
 * The installation that every check examines. Parts that cannot be read are null, so that the other checks still run.
 */
export interface Patient {
  readonly shell: Shell;
  /** The value of --config, if given. */
  readonly option: string | undefined;
  /** Null if there is no configuration file. */
  readonly checked: CheckedConfig | null;
  /** Why there is no configuration. */
  readonly noConfig: string | null;
  readonly config: Config | null;
  /** What is needed to reach the daemon. Available even if the configuration is broken. */
  readonly reach: DaemonPlace | null;
  /** Status reported by the running daemon. */
  readonly status: StatusView | null;
  /** Why the daemon does not answer. */
  readonly silence: string | null;
  readonly service: InstalledService | null;
  readonly isRoot: boolean;
  /**
   * Whether the current user is neither root nor the service's user, for example a member of its group. The service may
   * be able to read what this user cannot.
   */
  readonly isOutsider: boolean;
  /** Current time, in epoch milliseconds. */
  readonly now: number;
}

export async function examine(shell: Shell, option: string | undefined): Promise<Patient> {
  const inWords = onRefusal(({ message }) => message);
  const read = await readConfig(shell, option).catch(inWords);
  const checked = typeof read === 'string' ? null : read;
  // A daemon can be reached even if its configuration has become invalid.
  const reach = checked?.config ?? (checked?.paths == null ? null : placeOf(checked.paths));
  const answer = reach && (await queryRunningDaemon<StatusView>(reach, '/status').catch(inWords));
  // A container may have the same file, but it has no units or journal.
  const hasUnits = existsSync('/run/systemd/system');
  const service = checked === null || !hasUnits ? null : serviceOf(checked.file);
  const isRoot = process.geteuid?.() === 0;
  return {
    shell,
    option,
    checked,
    noConfig: typeof read === 'string' ? read : null,
    config: checked?.config ?? null,
    reach,
    status: typeof answer === 'string' ? null : answer,
    silence: typeof answer === 'string' ? answer : null,
    service,
    isRoot,
    isOutsider: service !== null && !isRoot && !(await isOwn(service.stateDir)),
    now: Date.now(),
  };
}

/** Whether the current user is the service's user, who owns the state directory. */
async function isOwn(stateDir: string): Promise<boolean> {
  const owner = await unlessHung(stat(stateDir).catch(() => null));
  return owner !== null && owner.uid === process.geteuid?.();
}
