import { dirname, isAbsolute, join, resolve } from 'node:path';
import { serviceOf } from './installed-service.ts';
import { variable, type Surroundings } from './surroundings.ts';

/** Absolute and normalised: relative to the configuration file, `~` is the home directory. */
export function resolvePath(text: string, configFile: string, around: Surroundings): string {
  if (text === '~' || text.startsWith('~/')) return resolve(around.home, text.slice(2));
  return resolve(dirname(configFile), text);
}

/**
 * systemd's `StateDirectory=`; what that is for the service of this file, so that `sudo dropcast status` looks where the service
 * writes; else the XDG base directory, of which XDG says that a relative one has to be ignored.
 */
export function defaultStateDir(configFile: string, around: Surroundings): string {
  const given = serviceDirectory('STATE_DIRECTORY', around) ?? serviceOf(configFile)?.stateDir;
  if (given !== undefined) return given;
  const xdg = variable(around, 'XDG_STATE_HOME');
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'dropcast');
  return join(around.home, '.local/state/dropcast');
}

/** `auto` is `dropcast.sock` in systemd's `RuntimeDirectory=`, else in the state directory. */
export function socketPath(text: string, stateDir: string, configFile: string, around: Surroundings): string {
  if (text !== 'auto') return resolvePath(text, configFile, around);
  return join(serviceDirectory('RUNTIME_DIRECTORY', around) ?? stateDir, 'dropcast.sock');
}

/** `failures.jsonl` in systemd's `LogsDirectory=`, else in the state directory. */
export function failureLogPath(stateDir: string, around: Surroundings): string {
  return join(serviceDirectory('LOGS_DIRECTORY', around) ?? stateDir, 'failures.jsonl');
}

/** The first of a directory variable of systemd.exec(5), which is a list with `:` between. */
function serviceDirectory(name: string, around: Surroundings): string | undefined {
  const [first = ''] = (variable(around, name) ?? '').split(':');
  return first === '' ? undefined : resolve(around.cwd, first);
}

/** True when `inner` is `outer` or lies below it. Both are absolute and normalised. */
export function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
}
