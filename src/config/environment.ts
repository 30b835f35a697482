import { hostname } from 'node:os';
import { resolve } from 'node:path';

/** The inputs of a configuration besides its file. Passed in, so that nothing below reads the process. */
export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** Absolute; replaces `~`. */
  readonly home: string;
  /** Default: the host name of the system. */
  readonly hostName?: string;
}

/** The name of this machine as a member of a fleet. */
export function nameOfMachine({ hostName = hostname() }: Environment): string {
  return hostName.replaceAll(/[^\w.-]/g, '-').slice(0, 63) || 'host';
}

/** The value of a variable. An empty one counts as not set. */
export function variable({ env }: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/** The first path in a directory variable of systemd, which is a list separated by `:` (systemd.exec(5)). */
export function systemdDirectory(
  environment: Environment,
  name: 'STATE_DIRECTORY' | 'RUNTIME_DIRECTORY' | 'LOGS_DIRECTORY',
): string | undefined {
  const [first = ''] = (variable(environment, name) ?? '').split(':');
  return first === '' ? undefined : resolve(environment.cwd, first);
}
