import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CommandError, exitCodes } from '../shell.ts';

/** Timeout longer than the units' TimeoutStartSec=, so that systemd gives up first and states the reason. */
const timeoutMs = 120_000;

/**
 * Runs a system program and waits for it to exit.
 *
 * @returns its output
 * @throws {CommandError} with its output if it fails
 */
export async function runProgram(program: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(program, [...args], { timeout: timeoutMs })).stdout;
  } catch (error) {
    const { stderr = '', code } = error as { stderr?: string; code?: unknown };
    const said = code === 'ENOENT' ? `there is no program ${program} on this machine` : stderr.trim();
    const message = `${[program, ...args].join(' ')} failed${said === '' ? '' : `: ${said}`}`;
    throw new CommandError(message, exitCodes.failed, { cause: error });
  }
}

/** A unit's state according to systemd. */
export interface UnitState {
  readonly isLoaded: boolean;
  readonly isActive: boolean;
  readonly isEnabled: boolean;
  /** Whether the unit's files changed since systemd loaded them. */
  readonly needsReload: boolean;
  /** When the unit's main process started, in epoch milliseconds; 0 for never. */
  readonly startedAt: number;
}

export async function unitState(unit: string): Promise<UnitState> {
  const names = ['LoadState', 'ActiveState', 'UnitFileState', 'NeedDaemonReload', 'ExecMainStartTimestamp'];
  const text = await runProgram(
    'systemctl',
    'show',
    '--timestamp=us+utc',
    unit,
    ...names.map((name) => `--property=${name}`),
  );
  return readUnitState(text);
}

/** @param text output of `systemctl show --timestamp=us+utc` */
export function readUnitState(text: string): UnitState {
  const values = new Map(text.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
  return {
    isLoaded: values.get('LoadState') === 'loaded',
    isActive: values.get('ActiveState') === 'active',
    isEnabled: values.get('UnitFileState') === 'enabled',
    needsReload: values.get('NeedDaemonReload') === 'yes',
    startedAt: momentOf(values.get('ExecMainStartTimestamp') ?? ''),
  };
}

/** Parses a timestamp such as `Sun 2026-11-22 17:22:33.123456 UTC`; 0 if empty. */
function momentOf(text: string): number {
  const [, day, time] = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d{3})\d* UTC$/.exec(text) ?? [];
  return day === undefined ? 0 : Date.parse(`${day}T${time}Z`);
}
