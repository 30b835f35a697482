import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { CheckedConfig } from '../read-config.ts';

/** Where a daemon is reached, also when its configuration is wrong by now: by default the socket is in the state directory. */
export function withSocketOf({ config, paths }: CheckedConfig): Pick<Config, 'file' | 'stateDir' | 'status'> | null {
  if (config !== null) return config;
  if (paths === null) return null;
  const { file, stateDir } = paths;
  return { file, stateDir, status: { listen: null, hosts: [], socket: join(stateDir, 'dropcast.sock') } };
}
