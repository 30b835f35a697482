import { join } from 'node:path';
import type { Logger } from '../log/logger.ts';
import { contentKey } from '../pipeline/file/file-version.ts';
import { observe } from './observation.ts';
import type { Settler } from './settler.ts';
import { slots } from './slots.ts';

export interface MissingFilesOptions {
  readonly folder: string;
  readonly settler: Settler;
  readonly logger: Logger;
  /** Whether the absence of a file proves anything; asked after the files were looked for. */
  readonly provesAbsence: () => Promise<boolean>;
  readonly gone: (path: string) => Promise<void>;
}

/**
 * Reports files gone, once that is certain: ENOENT for the path, and the folder is sound *after* that answer, so that an unmount
 * in between cannot be mistaken for a deletion. The old path of a rename waits until the file was offered under its new path.
 *
 * @param paths that were not found where they had been; those nobody was told of are only forgotten
 */
export async function reportMissing(paths: Iterable<string>, options: MissingFilesOptions): Promise<void> {
  const { folder, settler } = options;
  const look = slots(AT_ONCE);
  const missing: string[] = [];
  await Promise.all(
    Array.from(paths, (path) =>
      look(async () => {
        if ((await observe(join(folder, path))).is === 'missing') missing.push(path);
      }),
    ),
  );
  if (missing.length === 0 || !(await options.provesAbsence())) return;
  const arriving = new Set(Array.from(settler.waiting.values(), (file) => contentKey(file.version)));
  const isReportable = (path: string): boolean => {
    const waiting = settler.waiting.get(path);
    // Being offered, or on its way to a new path: the next scan asks again.
    return waiting === undefined ? !arriving.has(settler.taken.get(path) ?? '') : !waiting.busy;
  };
  await Promise.all(missing.filter(isReportable).map((path) => look(() => report(path, options))));
}

const AT_ONCE = 16;

async function report(path: string, { folder, settler, logger, gone }: MissingFilesOptions): Promise<void> {
  const taken = settler.taken.get(path);
  settler.forget(path);
  if (taken === undefined) return;
  try {
    await gone(path);
  } catch (error) {
    logger.warn('the loss of a file was not noted, it is reported again', { folder, path, err: error });
    settler.rememberKey(path, taken);
  }
  // It may have come back while this was going on.
  settler.hint(path);
}
