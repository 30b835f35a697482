import { error, warning, type Finding } from './finding.ts';
import { formatKeyPath, type KeyPath } from './key-path.ts';
import { isWithin } from './paths.ts';

/** A directory of the configuration, absolute and normalised. */
export interface Place {
  readonly key: KeyPath;
  readonly path: string;
}

/**
 * How directories lie to each other: one folder twice and a state directory inside of a folder are errors; a folder inside
 * another is worth a warning. Pure: `load.ts` asks with the paths as written, `inspect.ts` with links resolved.
 */
export function checkLayout(folders: readonly Place[], stateDir: Place | null): readonly Finding[] {
  return [
    ...folders.flatMap((folder, index) => checkFolder(folder, folders.slice(0, index), folders)),
    ...(stateDir === null ? [] : checkStateDir(stateDir, folders)),
  ];
}

function checkFolder({ key, path }: Place, earlier: readonly Place[], all: readonly Place[]): Finding[] {
  const twin = earlier.find((other) => other.path === path);
  if (twin !== undefined) return [error(key, `the same folder as ${formatKeyPath(twin.key)}; put all its rules there`)];
  const outer = all
    .filter((other) => other.path !== path && isWithin(path, other.path))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
  if (outer === undefined) return [];
  return [
    warning(key, `lies inside of ${outer.path}, which is watched too; files below are taken by this folder alone`),
  ];
}

function checkStateDir({ key, path }: Place, folders: readonly Place[]): Finding[] {
  const outer = folders.find((folder) => isWithin(path, folder.path));
  if (outer === undefined) return [];
  return [error(key, `${path} lies inside of the watched folder ${outer.path}; dropcast would watch its own files`)];
}
