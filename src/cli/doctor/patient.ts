import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Config } from '../../config/config.ts';
import { serviceOf } from '../../config/installed-service.ts';
import type { InstalledService } from '../../config/installed-service.ts';
import { unlessHung } from '../../unless-hung.ts';
import type { StatusView } from '../../view/picture/documents.ts';
import { queryRunningDaemon, unknownLedger } from '../control.ts';
import type { DaemonPlace } from '../control.ts';
import { readConfig } from '../read-config.ts';
import type { CheckedConfig } from '../read-config.ts';
import { CommandError } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** What every check looks at. Parts that cannot be read are null: the other checks go on. */
export interface Patient {
  readonly shell: Shell;
  /** As given with --config. */
  readonly option: string | undefined;
  /** Null when there is no configuration file at all. */
  readonly checked: CheckedConfig | null;
  /** Why there is none. */
  readonly noConfig: string | null;
  readonly config: Config | null;
  /** Enough to reach the daemon, also where the configuration is wrong. */
  readonly reach: DaemonPlace | null;
  /** What the running daemon says of itself. */
  readonly status: StatusView | null;
  /** Why it says nothing. */
  readonly silence: string | null;
  readonly service: InstalledService | null;
  readonly isRoot: boolean;
  /** A person beside a service, like a member of its group: what is closed to them is not closed to the service. */
  readonly isOutsider: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

export async function examine(shell: Shell, option: string | undefined): Promise<Patient> {
  const read = await readConfig(shell, option).catch((error: unknown) => {
    if (error instanceof CommandError) return error.message;
    throw error;
  });
  const checked = typeof read === 'string' ? null : read;
  const reach = checked === null ? null : withSocketOf(checked);
  const answer = reach === null ? null : await statusFrom(reach);
  // In a container the same file is there, and neither units nor a journal are.
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

/** As when the user of the service runs the doctor. */
async function isOwn(stateDir: string): Promise<boolean> {
  const owner = await unlessHung(stat(stateDir).catch(() => null));
  return owner !== null && owner.uid === process.geteuid?.();
}

async function statusFrom(reach: DaemonPlace): Promise<StatusView | string> {
  try {
    return await queryRunningDaemon<StatusView>(reach, '/status');
  } catch (error) {
    if (error instanceof CommandError) return error.message;
    throw error;
  }
}

/** Where a daemon is reached, also when its configuration is wrong by now. */
function withSocketOf({ config, paths }: CheckedConfig): DaemonPlace | null {
  if (config !== null) return config;
  if (paths === null) return null;
  const { file, stateDir, failureLog, socket } = paths;
  return { ...unknownLedger, file, stateDir, failureLog, status: { socket } };
}
