import { hostname } from 'node:os';
import { resolve } from 'node:path';

/** What the meaning of a configuration depends on besides its file. Passed in, so that nothing below reads the process. */
export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** Absolute; what `~` stands for. */
  readonly home: string;
  /** Default: what the system says. */
  readonly hostName?: string;
}

/** The name of this machine, as a member of a fleet may be called. */
export function nameOfMachine({ hostName = hostname() }: Environment): string {
  return hostName.replaceAll(/[^\w.-]/g, '-').slice(0, 63) || 'host';
}

/** The value of a variable. One that is set to nothing counts as not set. */
export function variable({ env }: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/** The first path of a directory variable that systemd sets: a list separated by `:` (systemd.exec(5)). */
export function systemdDirectory(
  environment: Environment,
  name: 'STATE_DIRECTORY' | 'RUNTIME_DIRECTORY' | 'LOGS_DIRECTORY',
): string | undefined {
  const [first = ''] = (variable(environment, name) ?? '').split(':');
  return first === '' ? undefined : resolve(environment.cwd, first);
}
