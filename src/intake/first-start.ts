import { lstat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { FolderConfig } from '../config/config.ts';
import { fileSystemNow } from '../disk/file-system-now.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { FirstStartRecord, FirstStartStore } from '../pipeline/file/ports.ts';
import type { Leaving } from '../pipeline/file/reasons.ts';

/**
 * The first start of one folder decides which unknown files existed before dropcast watched it: those that did not
 * arrive or change, nor a directory above them, since the first start began. The inode change time proves it: no
 * program can set it back. After the first start, every unknown file is new. Decision record 0054.
 */
export class FirstStart {
  readonly #folder: Pick<FolderConfig, 'path' | 'existing'>;
  readonly #store: FirstStartStore;
  #record: FirstStartRecord | null = null;
  #beginning: Promise<FirstStartRecord> | null = null;

  constructor(folder: Pick<FolderConfig, 'path' | 'existing'>, store: FirstStartStore) {
    this.#folder = folder;
    this.#store = store;
  }

  /** Whether every file that existed before has its row, as far as is known. */
  get isOver(): boolean {
    return this.#record?.isOver === true;
  }

  /** The folder is away: files of a directory that is created in its place are new. */
  async wait(): Promise<void> {
    const { path } = this.#folder;
    if ((await this.#store.firstStart(path)) !== null) return;
    await this.#store.saveFirstStart(path, { askedNs: systemNow(), beganNs: null, isOver: false });
  }

  /** An operator says that all present files were uploaded: the first start begins again. */
  async adopt(): Promise<void> {
    const { ns: beganNs } = await fileSystemNow(this.#folder.path);
    await this.#save({ askedNs: systemNow(), beganNs, isOver: false, isAdopted: true });
  }

  /** An operator says that the present files were not uploaded. */
  async doNotAdopt(): Promise<void> {
    const known = await this.#store.firstStart(this.#folder.path);
    if (known?.isAdopted !== true) return;
    const { isAdopted: _, ...record } = known;
    await this.#save({ ...record, isOver: true });
  }

  /** The folder is there. Idempotent. */
  async begin(): Promise<FirstStartRecord> {
    if (this.#record !== null) return this.#record;
    this.#beginning ??= this.#begin().finally(() => (this.#beginning = null));
    return this.#beginning;
  }

  /** The treatment of an unknown file that existed before; null for a new one. */
  async leaving(path: string, { ctimeNs }: FileVersion): Promise<Leaving | null> {
    const { existing } = this.#folder;
    const { beganNs, isOver, isAdopted = false } = await this.begin();
    const leaving = isAdopted ? 'recorded' : existing;
    if (leaving === 'upload' || isOver || beganNs === null || (await this.#isSince(BigInt(ctimeNs), beganNs)))
      return null;
    return (await this.#cameWithDirectory(path, beganNs)) ? null : leaving;
  }

  /** Every file that existed before has its row. */
  async end(): Promise<void> {
    await this.#save({ ...(await this.begin()), isOver: true });
  }

  async #save(record: FirstStartRecord): Promise<void> {
    await this.#store.saveFirstStart(this.#folder.path, record);
    this.#record = record;
  }

  async #begin(): Promise<FirstStartRecord> {
    const { path, existing } = this.#folder;
    const known = await this.#store.firstStart(path);
    const askedNs = known?.askedNs ?? systemNow();
    const record: FirstStartRecord = {
      askedNs,
      beganNs: known?.beganNs ?? (await beganAt(path, known === null ? null : askedNs)),
      // With `existing: upload` there is no first start to repeat.
      isOver: known?.isOver === true || (existing === 'upload' && known?.isAdopted !== true),
      ...(known?.isAdopted === true && { isAdopted: true }),
    };
    if (known === null || known.beganNs === null || known.isOver !== record.isOver)
      await this.#store.saveFirstStart(path, record);
    return (this.#record = record);
  }

  /** Files of a directory that was moved into the folder look old: the move changes only the directory itself. */
  async #cameWithDirectory(path: string, beganNs: bigint): Promise<boolean> {
    for (let directory = posix.dirname(path); directory !== '.'; directory = posix.dirname(directory)) {
      const stats = await lstat(join(this.#folder.path, directory), { bigint: true }).catch(() => null);
      if (stats === null) continue;
      if (await this.#isSince(stats.birthtimeNs, beganNs)) return true;
      if (stats.mtimeNs < beganNs && (await this.#isSince(stats.ctimeNs, beganNs))) return true;
    }
    return false;
  }

  /** Whether a time is after the first start began. A time in the future is from before the clock was set back. */
  async #isSince(atNs: bigint, beganNs: bigint): Promise<boolean> {
    if (atNs < beganNs) return false;
    const { ns, isItsOwn } = await fileSystemNow(this.#folder.path);
    return atNs <= ns + (isItsOwn ? skewNs : unknownSkewNs);
  }
}

/** Five minutes: each host of a cluster file system may use its own clock. */
const skewNs = 300_000_000_000n;
/** An hour: the clock of a share in which no file can be created may be ahead of ours. */
const unknownSkewNs = 3_600_000_000_000n;

/** A folder that was created while dropcast waited for it has no files from before. */
async function beganAt(folder: string, waitedSinceNs: bigint | null): Promise<bigint> {
  const { ns: now } = await fileSystemNow(folder);
  if (waitedSinceNs === null) return now;
  const { birthtimeNs } = await lstat(folder, { bigint: true });
  return birthtimeNs > waitedSinceNs ? birthtimeNs : now;
}

function systemNow(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
