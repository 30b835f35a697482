import { createProgress } from '../output/progress.ts';
import type { FileProgress } from '../output/progress-view.ts';
import type { Shell } from '../shell.ts';

/** Shows on stderr how one upload goes on. */
export interface UploadProgress extends Disposable {
  /** What is not named stays. */
  update(changes: Partial<Pick<FileProgress, 'state' | 'sentBytes' | 'sizeBytes'>>): void;
}

/** @param name of the file, raw */
export function openUploadProgress({ stderr, env }: Pick<Shell, 'stderr' | 'env'>, name: string): UploadProgress {
  const now = () => performance.now();
  const progress = createProgress({ stream: stderr, isTerminal: stderr.isTTY, now, env });
  let file: FileProgress = { id: name, name, state: 'creating', sentBytes: 0, sizeBytes: 0, why: null };
  const update: UploadProgress['update'] = (changes) => {
    file = { ...file, ...changes };
    progress.update({ files: [file], totals: null, requests: null });
  };
  return { update, [Symbol.dispose]: () => progress.finish() };
}
