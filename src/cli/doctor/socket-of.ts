import { unknownLedger } from '../control.ts';
import type { DaemonPlace } from '../control.ts';
import type { CheckedConfig } from '../read-config.ts';

/** Where a daemon is reached, also when its configuration is wrong by now. */
export function withSocketOf({ config, paths }: CheckedConfig): DaemonPlace | null {
  if (config !== null) return config;
  if (paths === null) return null;
  const { file, stateDir, failureLog, socket } = paths;
  return { ...unknownLedger, file, stateDir, failureLog, status: { socket } };
}
