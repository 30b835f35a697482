import { isLoopback, parseListen } from './addresses.ts';
import { checkLayout, type Place } from './check-layout.ts';
import { error, warning, type Finding } from './finding.ts';
import { defaultStateDir, resolvePath, socketPath } from './paths.ts';
import { listOf, property, textOf } from './raw-tree.ts';
import type { Surroundings } from './surroundings.ts';

/** `sun_path` of unix(7) holds 108 bytes with the zero at its end. Node cuts a longer one off in silence. */
const MAX_SOCKET_BYTES = 107;

/** Checks on the raw tree how the paths lie to each other, without a look at the disk. */
export function checkPaths(tree: unknown, configFile: string, around: Surroundings): readonly Finding[] {
  const resolved = (text: unknown): string | null =>
    typeof text === 'string' && text.trim() !== '' ? resolvePath(text, configFile, around) : null;
  const folders = listOf(property(tree, 'folders')).flatMap((folder, index): Place[] => {
    const path = resolved(property(folder, 'path'));
    return path === null ? [] : [{ key: ['folders', index, 'path'], path }];
  });
  const written = property(tree, 'state_dir');
  const stateDir = written === undefined ? defaultStateDir(configFile, around) : resolved(written);
  const status = property(tree, 'status');
  return [
    ...checkLayout(folders, stateDir === null ? null : { key: ['state_dir'], path: stateDir }),
    ...(stateDir === null
      ? []
      : checkSocket(socketPath(textOf(property(status, 'socket')) ?? 'auto', stateDir, configFile, around))),
    ...checkListen(property(status, 'listen')),
  ];
}

function checkSocket(path: string): Finding[] {
  const bytes = Buffer.byteLength(path);
  if (bytes <= MAX_SOCKET_BYTES) return [];
  const message = `${path} has ${bytes} bytes, the system takes ${MAX_SOCKET_BYTES} at most; set a shorter one`;
  return [error(['status', 'socket'], message)];
}

function checkListen(listen: unknown): Finding[] {
  const parsed = typeof listen === 'string' ? parseListen(listen) : null;
  if (parsed?.ok !== true || parsed.value === null || isLoopback(parsed.value.host)) return [];
  return [warning(['status', 'listen'], 'other machines can open the status page; 127.0.0.1 keeps it to this one')];
}
