import { dirname, isAbsolute, join, resolve } from 'node:path';
import { systemdDirectory, variable, type Environment } from './environment.ts';
import { serviceOf } from './installed-service.ts';
import { type KeyPath, TaggedValue, isMapping, listOf, property, textOf } from './raw-tree.ts';
import type { AfterReady } from './schema-folder.ts';
import { secretPlaces } from './json-schema.ts';

/** Files and directories named in a configuration. */
export interface ConfigPaths {
  readonly file: string;
  readonly stateDir: string;
  readonly failureLog: string;
  readonly folders: readonly {
    readonly key: string;
    readonly path: string;
    readonly afterReady: AfterReady;
    readonly beside?: boolean;
  }[];
  /** Path of the control socket. */
  readonly socket: string;
  /** Absolute paths of `!file` targets and certificates. */
  readonly secretFiles: readonly string[];
}

/**
 * Reads the paths from a tree that may have mistakes elsewhere, so that a missing folder is reported along with a
 * misspelt key.
 */
export function configPaths(tree: unknown, file: string, environment: Environment): ConfigPaths {
  const absolute = (value: unknown): string | null => {
    const text = textOf(value);
    return text === undefined || text.trim() === '' ? null : resolvePath(text, file, environment);
  };
  const stateDir = absolute(property(tree, 'state_dir')) ?? defaultStateDir(file, environment);
  const folders = listOf(property(tree, 'folders')).flatMap((folder, index) => {
    const path = absolute(property(folder, 'path'));
    return path === null
      ? []
      : [
          {
            key: `folders[${index}]`,
            path,
            afterReady: afterReadyOf(folder),
            beside: property(folder, 'beside') === true,
          },
        ];
  });
  const authorities = textOf(property(property(tree, 'ledger'), 'ca')) ?? '';
  const certificates = [authorities, ...authorityFiles(tree).map(({ file }) => file)];
  const named = [...secretFiles(tree), ...certificates.filter((path) => path.trim() !== '')];
  const socket = socketPath(
    textOf(property(property(tree, 'status'), 'socket')) ?? 'auto',
    stateDir,
    file,
    environment,
  );
  return {
    file,
    stateDir,
    failureLog: failureLogPath(stateDir, environment),
    socket,
    secretFiles: named.map((path) => resolvePath(path, file, environment)),
    folders,
  };
}

/** The `!file` targets among the secrets. */
function secretFiles(tree: unknown): readonly string[] {
  return secretPlaces(tree).flatMap(({ raw }) =>
    raw instanceof TaggedValue && raw.tag === 'file' ? [raw.argument] : [],
  );
}

/** The files of `tls.ca` by host, in a tree that may have mistakes elsewhere. */
export function authorityFiles(
  tree: unknown,
): readonly { readonly path: KeyPath; readonly host: string; readonly file: string }[] {
  const path = ['tls', 'ca'];
  const ca = property(property(tree, 'tls'), 'ca');
  if (typeof ca === 'string') return [{ path, host: '*', file: ca }];
  if (!isMapping(ca) || ca instanceof TaggedValue) return [];
  return Object.entries(ca).flatMap(([host, value]) => {
    const file = textOf(value);
    return file === undefined ? [] : [{ path: [...path, host], host: host.toLowerCase(), file }];
  });
}

function afterReadyOf(folder: unknown): AfterReady {
  const value = property(folder, 'after_ready');
  const to = textOf(property(value, 'move'));
  if (to !== undefined) return { kind: 'move', to };
  return { kind: value === 'delete' || property(value, 'delete') !== undefined ? 'delete' : 'keep' };
}

/** Makes a path absolute and normalised. Relative paths start at the configuration file; `~` is the home directory. */
export function resolvePath(text: string, configFile: string, environment: Environment): string {
  if (text === '~' || text.startsWith('~/')) return resolve(environment.home, text.slice(2));
  return resolve(dirname(configFile), text);
}

/**
 * The default state directory: systemd's `StateDirectory=` if the variable is set. Otherwise the directory of the
 * service that uses this file, so that `sudo dropcast status` looks where the service writes. Otherwise the XDG base
 * directory, whose specification says to ignore relative paths.
 */
export function defaultStateDir(configFile: string, environment: Environment): string {
  const given = systemdDirectory(environment, 'STATE_DIRECTORY') ?? serviceOf(configFile)?.stateDir;
  if (given !== undefined) return given;
  const xdg = variable(environment, 'XDG_STATE_HOME');
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'dropcast');
  return join(environment.home, '.local/state/dropcast');
}

/**
 * Resolves the control socket path. `auto` is `dropcast.sock` in systemd's `RuntimeDirectory=`, or else in the state
 * directory.
 */
export function socketPath(text: string, stateDir: string, configFile: string, environment: Environment): string {
  if (text !== 'auto') return resolvePath(text, configFile, environment);
  return join(systemdDirectory(environment, 'RUNTIME_DIRECTORY') ?? stateDir, 'dropcast.sock');
}

/** Path of the read-only socket, which is next to the control socket and meant for members of its group. */
export function readSocketPath(socket: string): string {
  return `${socket.replace(/\.sock$/, '')}.read.sock`;
}

/** Path of `failures.jsonl`: in systemd's `LogsDirectory=`, otherwise in the state directory. */
function failureLogPath(stateDir: string, environment: Environment): string {
  return join(systemdDirectory(environment, 'LOGS_DIRECTORY') ?? stateDir, 'failures.jsonl');
}

/** True if `inner` is `outer` or below it. Both must be absolute and normalised. */
export function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
}
