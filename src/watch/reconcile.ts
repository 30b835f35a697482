import { versionOf } from '../pipeline/file/file-version.ts';
import type { ClosedDirectories, RefusedPaths } from './refused-paths.ts';
import type { Hints } from './hints.ts';
import { LeftOutFiles } from './inventory.ts';
import type { FolderParts } from './inventory.ts';
import type { LeftOut } from './ports.ts';
import type { MissingFiles } from './missing-files.ts';
import { errnoOf } from '../errno.ts';
import { whyRefused } from './root-check.ts';
import type { RootClaim } from './root-claim.ts';
import type { Root } from './root.ts';
import { scanFolder } from './scan.ts';
import type { ScanSchedule } from './scan-schedule.ts';
import type { Settler } from './settler.ts';
import type { WatchedDirectories } from './kernel.ts';

interface ReconcilerOptions extends FolderParts {
  readonly root: Root;
  readonly claim: RootClaim | null;
  readonly hints: Hints;
  readonly settler: Settler;
  readonly refused: RefusedPaths;
  readonly missing: MissingFiles;
  readonly closed: ClosedDirectories;
  readonly directories: WatchedDirectories;
}

/** Compares a folder's inventory with the disk. Scans are authoritative; events are only hints (design, section 6). */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #nested: ReadonlySet<string>;
  #ignored = 0;
  #leftOut: LeftOut;
  #visited = 0;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#nested = new Set(options.folder.nested);
    this.#leftOut = new LeftOutFiles(options.folder.isExcluded).summary();
  }

  get ignored(): number {
    return this.#ignored;
  }

  get leftOut(): LeftOut {
    return this.#leftOut;
  }

  /** Number of files visited by the current scan, or by the last one. */
  get visited(): number {
    return this.#visited;
  }

  /** Scans once. Never rejects: a folder that cannot be scanned is frozen. */
  async scan(schedule: ScanSchedule): Promise<void> {
    const { folder, logger, signal, root, hints, refused } = this.#options;
    try {
      if (!(await root.isScannable())) return;
      await root.watchOver(this.#walk(schedule));
      await hints.renew((path) => refused.paths.has(path));
    } catch (error) {
      if (signal.aborted) return;
      schedule.wantDeep();
      logger.debug('scan failed', { folder: folder.path, err: error });
      root.freeze(await whyRefused(folder.path, 'it cannot be read', errnoOf(error)));
    }
  }

  async #walk(schedule: ScanSchedule): Promise<void> {
    const { folder, sink, inventory, signal, root, claim, hints, settler } = this.#options;
    if (root.isFrozen) schedule.wantDeep();
    const depth = schedule.takeDepth(folder.watch === 'polling' || hints.isPolled || hints.gap !== null);
    inventory.beginScan();
    const refused = new Map<string, string>();
    const closed = new Map<string, string>();
    const leftBehind: string[] = [];
    let ignored = 0;
    const leftOut = new LeftOutFiles(folder.isExcluded);
    let directories = 1;
    this.#visited = 0;
    await scanFolder(
      folder.path,
      {
        entered: () => root.thaw(),
        directory: (path) => {
          if (this.#nested.has(`${folder.path}/${path}`)) return 'skip';
          if (folder.leavesOut(path)) return 'ignore';
          directories += 1;
          hints.directory(path);
          return 'enter';
        },
        whyForeign: async (path) => (await claim?.foreign(path)) ?? null,
        file: (path) => {
          this.#visited += 1;
          inventory.found(path);
          if (inventory.taken.has(path) && !inventory.waiting.has(path)) return depth === 'deep' ? 'look' : 'skip';
          return folder.accepts(path) === null ? 'ignore' : 'look';
        },
        seen: (path, stats) => {
          if (inventory.taken.isExactly(path, stats) && !inventory.waiting.has(path)) return;
          const kind = folder.accepts(path);
          if (kind !== null) settler.seen(path, kind, versionOf(stats));
        },
        leftBehind: (path) => leftBehind.push(path),
        refused: (path, why, code) => {
          refused.set(path, why);
          if (code !== undefined) closed.set(path, code);
        },
        ignored: (path) => {
          ignored += 1;
          if (path !== undefined) leftOut.add(path);
        },
      },
      signal,
    );
    this.#options.refused.found(refused);
    this.#ignored = ignored;
    this.#leftOut = leftOut.summary();
    this.#options.directories.set(folder.path, directories);
    await this.#options.missing.report(inventory.unfound(), true);
    await this.#options.closed.found(closed);
    for (const directory of leftBehind) await sink.leftBehind(directory);
  }
}
