import type { Config, FolderConfig } from '../../config/config.ts';
import { createRouter } from '../../intake/folder-router.ts';
import { nestedIn } from '../../intake/folders.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { mostSentBytes } from '../../pipeline/file/size-limit.ts';
import type { LearnedLimit } from '../../pipeline/file/size-limit.ts';
import { unlessHung } from '../../unless-hung.ts';
import { scanFolder } from '../../watch/scan.ts';
import { formatBytes } from '../output/format.ts';
import type { FolderHint } from './folder-hints.ts';

/** How many files of a folder are too large to be sent. */
interface Large {
  readonly files: number;
  /** Path of the largest one, relative to the folder, and its size in bytes. */
  readonly path: string;
  readonly size: number;
}

/**
 * Finds files that are larger than `uploads.max_size`, or than the upload host accepts. Folders that take longer than
 * 5 s to list are left to `dropcast plan`.
 */
export async function largeFiles(
  { folders, uploads: { maxSizeBytes } }: Pick<Config, 'folders' | 'uploads'>,
  learned: LearnedLimit | null,
): Promise<readonly FolderHint[]> {
  const most = mostSentBytes({ maxSizeBytes, learned });
  if (most === Infinity) return [];
  const limit = most === maxSizeBytes ? 'uploads.max_size' : 'the limit learned from the service';
  const found = await Promise.all(folders.map((folder) => largeIn(folder, folders, most)));
  return folders.flatMap(({ key, path: folder }, index) => {
    const large = found[index] ?? null;
    if (large === null || large.files === 0) return [];
    const { files, path, size } = large;
    const what = files === 1 ? '1 file is' : `${files} files are`;
    const message = `in ${folder} ${what} larger than ${limit} (${formatBytes(most)}), such as ${escapeControls(path)} (${formatBytes(size)}): held unless sent before`;
    return [{ key: `${key}.path`, message }];
  });
}

async function largeIn(folder: FolderConfig, folders: readonly FolderConfig[], most: number): Promise<Large | null> {
  const { accepts, leavesOut } = createRouter(folder);
  const nested = new Set(nestedIn(folder, folders));
  const stop = new AbortController();
  let large: Large = { files: 0, path: '', size: 0 };
  const ignore = (): void => undefined;
  const scan = scanFolder(
    folder.path,
    {
      entered: ignore,
      directory: (path) => (nested.has(`${folder.path}/${path}`) || leavesOut(path) ? 'skip' : 'enter'),
      whyForeign: async () => null,
      file: (path) => (accepts(path) === 'media' ? 'look' : 'skip'),
      seen: (path, { size }) => {
        if (size <= most) return;
        const largest = size > large.size ? { path, size: Number(size) } : large;
        large = { ...largest, files: large.files + 1 };
      },
      leftBehind: ignore,
      refused: ignore,
      ignored: ignore,
    },
    stop.signal,
  );
  const listed = await unlessHung(scan.then(() => true).catch(() => null));
  stop.abort();
  return listed === true ? large : null;
}
