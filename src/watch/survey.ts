import pLimit from 'p-limit';
import { versionOf } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { monotonicClock } from './clock.ts';
import { createJudge } from './completeness.ts';
import { OpenWriters } from './open-writers.ts';
import type { CompleteFile, FileKind, KnownFiles, RefusedPath, WatchSettings } from './ports.ts';
import { scanFolder } from './scan.ts';
import { TakenFiles } from './taken-files.ts';
import { startWaiting } from './waiting-file.ts';

/** A folder's contents, as a watcher's first scan would find them. */
export interface Survey {
  /** Files that a watcher would offer once they have stayed unchanged. */
  readonly files: readonly CompleteFile[];
  /** Files that would have to wait, with the reason. */
  readonly unfinished: readonly { readonly path: string; readonly size: number; readonly why: string }[];
  /** Number of known files that are unchanged. */
  readonly known: number;
  readonly ignored: number;
  readonly refused: readonly RefusedPath[];
}

interface SurveyOptions {
  readonly known: KnownFiles;
  whyForeign(absolutePath: string): Promise<string | null>;
  looked(files: number): void;
  readonly signal: AbortSignal;
}

interface Found {
  readonly path: string;
  readonly kind: FileKind;
  readonly version: FileVersion;
}

const atOnce = 16;

/**
 * Scans a folder once and judges its files as a watcher would. Changes nothing.
 *
 * @throws if the folder cannot be listed or the signal is aborted
 */
export async function surveyFolder(folder: WatchSettings, options: SurveyOptions): Promise<Survey> {
  const { found, ...others } = await scan(folder, options);
  const limit = pLimit(atOnce);
  const judge = createJudge({
    folder,
    clock: monotonicClock,
    writers: new OpenWriters(),
    limit: pLimit(atOnce),
    isRootSound: () => Promise.resolve(true),
  });
  const files: CompleteFile[] = [];
  const unfinished: { path: string; size: number; why: string }[] = [];
  let looked = 0;
  const look = async ({ path, kind, version }: Found): Promise<void> => {
    options.signal.throwIfAborted();
    // Infinity: judge the file as if it had stayed unchanged for long enough.
    const verdict = await judge(startWaiting(path, kind, version, monotonicClock.elapsed()), Infinity);
    if (verdict.is === 'complete') {
      const { flaw, isUnreadable } = verdict;
      files.push({ folder: folder.path, path, kind, version, flaw, isUnreadable });
    } else unfinished.push({ path, size: version.size, why: verdict.why ?? 'it has just changed' });
    options.looked((looked += 1));
  };
  await Promise.all(found.map((file) => limit(() => look(file))));
  return { files, unfinished, ...others };
}

async function scan(
  folder: WatchSettings,
  { known, whyForeign, signal }: SurveyOptions,
): Promise<Omit<Survey, 'files' | 'unfinished'> & { readonly found: readonly Found[] }> {
  const taken = new TakenFiles();
  await known.known(folder.path, ({ path, version }) => taken.set(path, version));
  const nested = new Set(folder.nested);
  const found: Found[] = [];
  const refused: RefusedPath[] = [];
  const counts = { known: 0, ignored: 0 };
  await scanFolder(
    folder.path,
    {
      entered: () => undefined,
      directory: (path) => {
        if (nested.has(`${folder.path}/${path}`)) return 'skip';
        return folder.leavesOut(path) ? 'ignore' : 'enter';
      },
      whyForeign,
      file: (path) => (folder.accepts(path) === null && !taken.has(path) ? 'ignore' : 'look'),
      seen: (path, stats) => {
        const kind = folder.accepts(path);
        if (taken.isExactly(path, stats)) counts.known += 1;
        else if (kind !== null) found.push({ path, kind, version: versionOf(stats) });
      },
      leftBehind: () => undefined,
      refused: (path, why) => refused.push({ path, why }),
      ignored: () => (counts.ignored += 1),
    },
    signal,
  );
  return { found, refused, ...counts };
}
