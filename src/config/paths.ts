import { dirname, isAbsolute, join, resolve } from 'node:path';
import { variable, type Surroundings } from './surroundings.ts';

/** Absolute and normalised: relative to the configuration file, `~` is the home directory. */
export function resolvePath(text: string, configFile: string, around: Surroundings): string {
  if (text === '~' || text.startsWith('~/')) return resolve(around.home, text.slice(2));
  return resolve(dirname(configFile), text);
}

/** systemd's `StateDirectory=` (a `:` list), else the XDG base directory; XDG says that a relative one has to be ignored. */
export function defaultStateDir(around: Surroundings): string {
  const [given = ''] = (variable(around, 'STATE_DIRECTORY') ?? '').split(':');
  if (given !== '') return resolve(around.cwd, given);
  const xdg = variable(around, 'XDG_STATE_HOME');
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'dropcast');
  return join(around.home, '.local/state/dropcast');
}

/** `auto` is `dropcast.sock` in systemd's `RuntimeDirectory=`, else in the state directory. */
export function socketPath(text: string, stateDir: string, configFile: string, around: Surroundings): string {
  if (text !== 'auto') return resolvePath(text, configFile, around);
  const [runtime = ''] = (variable(around, 'RUNTIME_DIRECTORY') ?? '').split(':');
  return join(runtime === '' ? stateDir : resolve(around.cwd, runtime), 'dropcast.sock');
}

/** True when `inner` is `outer` or lies below it. Both are absolute and normalised. */
export function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
}
