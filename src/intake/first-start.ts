import { lstat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { FolderConfig } from '../config/config.ts';
import { fileSystemNow } from '../disk/file-system.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { FirstStartRecord, FirstStartStore } from '../pipeline/file/ports.ts';
import { isClosedDirectory, isIgnored, leftFromBefore, wasThereBefore } from '../pipeline/file/reasons.ts';
import type { Leaving, ReasonCode } from '../pipeline/file/reasons.ts';
import type { Facts, FileState } from '../pipeline/file/facts.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import type { SelectionStore } from '../pipeline/file/selection.ts';
import { heldFor } from './reroute.ts';

export type FirstStart = ReturnType<typeof createFirstStart>;

/**
 * Decides, for the first start of one folder, which unknown files existed before dropcast watched it. A file did if
 * neither the file nor a directory above it has arrived or changed since the first start began. The inode change time
 * proves that, because programs cannot set it back. After the first start, every unknown file is new. Decision record
 * 0054.
 */
export function createFirstStart({ path, existing }: Pick<FolderConfig, 'path' | 'existing'>, store: FirstStartStore) {
  let record: FirstStartRecord | null = null;
  let beginning: Promise<FirstStartRecord> | null = null;

  const save = async (next: FirstStartRecord): Promise<void> => {
    await store.saveFirstStart(path, next);
    record = next;
  };

  /** Begins the first start once the folder is there. Idempotent. */
  const begin = async (): Promise<FirstStartRecord> =>
    record ?? (beginning ??= beginNow().finally(() => (beginning = null)));

  const beginNow = async (): Promise<FirstStartRecord> => {
    const known = await store.firstStart(path);
    const askedNs = known?.askedNs ?? systemNow();
    const isAdopted = known?.isAdopted === true;
    const begun: FirstStartRecord = {
      askedNs,
      beganNs: known?.beganNs ?? (await beganAt(path, known === null ? null : askedNs)),
      // Nothing is adopted or ignored with `existing: upload`, so the first start is already over.
      isOver: known?.isOver === true || (existing === 'upload' && !isAdopted),
      ...(isAdopted && { isAdopted }),
    };
    if (known === null || known.beganNs === null || known.isOver !== begun.isOver)
      await store.saveFirstStart(path, begun);
    return (record = begun);
  };

  /**
   * Whether a file arrived with a directory that was moved into the folder. Such files look old, because a move changes
   * only the directory itself.
   */
  const cameWithDirectory = async (file: string, beganNs: bigint): Promise<boolean> => {
    for (let directory = posix.dirname(file); directory !== '.'; directory = posix.dirname(directory)) {
      const stats = await lstat(join(path, directory), { bigint: true }).catch(() => null);
      if (stats === null) continue;
      if (await isSince(stats.birthtimeNs, beganNs)) return true;
      if (stats.mtimeNs < beganNs && (await isSince(stats.ctimeNs, beganNs))) return true;
    }
    return false;
  };

  /** Whether a time is after the first start began. Times in the future date from before the clock was set back. */
  const isSince = async (atNs: bigint, beganNs: bigint): Promise<boolean> => {
    if (atNs < beganNs) return false;
    const { ns, isItsOwn } = await fileSystemNow(path);
    return atNs <= ns + (isItsOwn ? skewNs : unknownSkewNs);
  };

  return {
    begin,
    /** Whether every file that existed before is known to have its row. */
    isOver: (): boolean => record?.isOver === true,
    /** Records that the folder is unavailable. If a directory is created in its place, the files in it are new. */
    wait: async (): Promise<void> => {
      if ((await store.firstStart(path)) !== null) return;
      await store.saveFirstStart(path, { askedNs: systemNow(), beganNs: null, isOver: false });
    },
    /** Begins the first start again, after an operator confirmed that all present files were uploaded. */
    adopt: async (): Promise<void> => {
      const { ns: beganNs } = await fileSystemNow(path);
      await save({ askedNs: systemNow(), beganNs, isOver: false, isAdopted: true });
    },
    /** Ends an adoption, after an operator stated that the present files were not uploaded. */
    doNotAdopt: async (): Promise<void> => {
      const known = await store.firstStart(path);
      if (known?.isAdopted !== true) return;
      const { isAdopted: _, ...others } = known;
      await save({ ...others, isOver: true });
    },
    /** Returns how to treat an unknown file that existed before; null for a new file. */
    leaving: async (file: string, { ctimeNs }: FileVersion): Promise<Leaving | null> => {
      const { beganNs, isOver, isAdopted = false } = await begin();
      const leaving = isAdopted ? 'recorded' : existing;
      if (leaving === 'upload' || isOver || beganNs === null || (await isSince(BigInt(ctimeNs), beganNs))) return null;
      return (await cameWithDirectory(file, beganNs)) ? null : leaving;
    },
    /** Ends the first start, once every file that existed before has its row. */
    end: async (): Promise<void> => save({ ...(await begin()), isOver: true }),
  };
}

/** Clock tolerance, five minutes: each host of a cluster file system may use its own clock. */
const skewNs = 300_000_000_000n;
/** Clock tolerance, one hour: the clock of a share where we cannot create a file may be ahead of ours. */
const unknownSkewNs = 3_600_000_000_000n;

/** Returns when the first start began. A folder created while dropcast waited for it has no files from before. */
async function beganAt(folder: string, waitedSinceNs: bigint | null): Promise<bigint> {
  const { ns: now } = await fileSystemNow(folder);
  if (waitedSinceNs === null) return now;
  const { birthtimeNs } = await lstat(folder, { bigint: true });
  return birthtimeNs > waitedSinceNs ? birthtimeNs : now;
}

function systemNow(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

interface OlderLedgerWorld {
  readonly selection: Pick<SelectionStore, 'ids'>;
  readonly rows: Pick<Rows, 'claim'>;
  now(): number;
}

export type DoubtRows = ReturnType<typeof createDoubtRows>;

/**
 * Prepares the rows of a folder whose ledger is an older copy, once an operator has answered. Files may have been
 * uploaded since the copy was made. Idempotent.
 *
 * @returns a function whose `isAdopted` says whether the operator confirmed that all files in the folder were uploaded
 */
export function createDoubtRows({ selection, rows, now }: OlderLedgerWorld) {
  return async (folder: string, isAdopted: boolean): Promise<void> => {
    for (const doubtful of [{ states: unsent }, { cause: 'ignored' satisfies ReasonCode }])
      for (let after: string | null | undefined; after !== null;) {
        const { ids, next } = await selection.ids({ folder, ...doubtful }, idsAtOnce, after);
        for (const id of ids) await rows.claim(id, (row) => row.write(doubted(row.facts, isAdopted, now())));
        after = next;
      }
  };
}

const unsent = ['queued', 'awaiting upload', 'retrying', 'failed', 'held'] satisfies FileState[];
const idsAtOnce = 500;

export function doubted(facts: Facts, isAdopted: boolean, now: number): Partial<Facts> {
  const { videoId, uploadedAt, uploadStartedAt, createdAt, end } = facts;
  if (uploadedAt !== null || wasThereBefore(facts) || isClosedDirectory(facts)) return {};
  // `uploadStartedAt` makes the upload query the service first. An ignored file's record is deleted if it is empty.
  if (videoId !== null && !isIgnored(facts))
    return end === null ? { uploadStartedAt: uploadStartedAt ?? createdAt ?? now } : {};
  return isAdopted ? { ...heldFor(leftFromBefore.recorded, now), end: 'skipped', notBefore: null } : {};
}

export const whyNotOlder = (folder: string): string =>
  `${folder} is not older than its ledger: there is nothing to record`;

export const recordedIn = (folder: string): string =>
  `The files in ${folder} are recorded as uploaded: \`dropcast retry\` still uploads one`;
