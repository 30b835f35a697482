import type { Config, FolderConfig } from './config.ts';
import { defaultStateDir, failureLogPath, resolvePath } from './paths.ts';
import { listOf, property, textOf } from './raw-tree.ts';
import type { Surroundings } from './surroundings.ts';
import { TaggedValue } from './tagged-value.ts';

/** What a configuration needs to find on the disk. A whole one has it, and one with mistakes elsewhere mostly too. */
export interface Premises extends Pick<Config, 'file' | 'stateDir' | 'failureLog'> {
  readonly folders: readonly Pick<FolderConfig, 'key' | 'path' | 'afterReady'>[];
  /** What `!file` names, absolute. */
  readonly secretFiles: readonly string[];
}

/** As far as it can be read off the raw tree, so that a missing folder is named beside a misspelt key. */
export function premisesOf(tree: unknown, file: string, around: Surroundings): Premises {
  const stateDir = pathOf(property(tree, 'state_dir'), file, around) ?? defaultStateDir(file, around);
  const folders = listOf(property(tree, 'folders')).flatMap((folder, index) => {
    const path = pathOf(property(folder, 'path'), file, around);
    return path === null ? [] : [{ key: `folders[${index}]`, path, afterReady: afterReadyOf(folder) }];
  });
  return {
    file,
    stateDir,
    failureLog: failureLogPath(stateDir, around),
    secretFiles: secretFilesOf(tree, file, around),
    folders,
  };
}

function secretFilesOf(tree: unknown, file: string, around: Surroundings): readonly string[] {
  const service = property(tree, 'service');
  return [property(service, 'api_key'), property(service, 'webhook_secret')].flatMap((value) =>
    value instanceof TaggedValue && value.tag === 'file' ? [resolvePath(value.argument, file, around)] : [],
  );
}

function pathOf(value: unknown, file: string, around: Surroundings): string | null {
  const text = textOf(value);
  return text === undefined || text.trim() === '' ? null : resolvePath(text, file, around);
}

function afterReadyOf(folder: unknown): FolderConfig['afterReady'] {
  const value = property(folder, 'after_ready');
  const to = textOf(property(value, 'move'));
  if (to !== undefined) return { kind: 'move', to };
  return { kind: value === 'delete' ? 'delete' : 'keep' };
}
