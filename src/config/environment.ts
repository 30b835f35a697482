import { hostname } from 'node:os';
import { resolve } from 'node:path';

/** A configuration's inputs other than its file. Passed in, so that nothing below reads the process. */
export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Current directory, absolute. */
  readonly cwd: string;
  /** Home directory, absolute; replaces `~`. */
  readonly home: string;
  /** Defaults to the system's host name. */
  readonly hostName?: string;
}

/** This machine's name as a fleet member. */
export function nameOfMachine({ hostName = hostname() }: Environment): string {
  return hostName.replaceAll(/[^\w.-]/g, '-').slice(0, 63) || 'host';
}

/** The value of an environment variable. An empty value counts as unset. */
export function variable({ env }: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/** The first path in a systemd directory variable, which is a list separated by `:` (systemd.exec(5)). */
export function systemdDirectory(
  environment: Environment,
  name: 'STATE_DIRECTORY' | 'RUNTIME_DIRECTORY' | 'LOGS_DIRECTORY',
): string | undefined {
  const [first = ''] = (variable(environment, name) ?? '').split(':');
  return first === '' ? undefined : resolve(environment.cwd, first);
}
