import { lookKey } from '../pipeline/file/file-version.ts';
import type { Logger } from '../log/logger.ts';
import type { MonotonicClock } from './clock.ts';
import type { Accounts, KnownFile, WatchCounts, WatchSettings, WatchSink, LeftOut } from './ports.ts';
import { TakenFiles } from './taken-files.ts';
import type { WaitingFile } from './waiting-file.ts';
import { mediaExtensionOf } from '../config/media-extensions.ts';

/** What every part of a folder's watcher works with. */
export interface FolderParts {
  readonly folder: WatchSettings;
  readonly sink: WatchSink;
  readonly inventory: Inventory;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
  /** Once aborted, nothing more is opened, looked at or reported. */
  readonly signal: AbortSignal;
}

/** A folder's known files: those accepted by the sink and those still settling. A changed file is in both. */
export class Inventory {
  readonly taken = new TakenFiles();
  readonly waiting = new Map<string, WaitingFile>();
  /** Waiting files that the current scan has not found yet. */
  #unfound = new Set<string>();

  has(path: string): boolean {
    return this.taken.has(path) || this.waiting.has(path);
  }

  /** Records the state of a file's row; null if the file no longer has a row. */
  becomes(path: string, state: string | null): void {
    this.taken.setState(path, state);
    const file = this.waiting.get(path);
    if (file !== undefined) file.state = state;
  }

  took({ path, kind, version, state }: WaitingFile): void {
    this.taken.set(path, version);
    const now = kind === 'sidecar' || kind === 'proof' ? sidecarState : state;
    if (now !== null) this.taken.setState(path, now);
  }

  /**
   * Keeps track of a waiting file that is gone if it has a row (an operator added it), so that its removal is reported.
   */
  leaves(path: string): void {
    const file = this.waiting.get(path);
    if (file !== undefined && file.state !== null && !this.taken.has(path)) this.took(file);
  }

  /** Returns files that the sink accepted but that have no row. */
  unaccounted(): string[] {
    if (this.taken.countStates().get(null) === 0) return [];
    return [...this.taken.withoutState()].filter((path) => !this.waiting.has(path));
  }

  beginScan(): void {
    this.taken.beginScan();
    this.#unfound = new Set(this.waiting.keys());
  }

  found(path: string): void {
    this.taken.found(path);
    this.#unfound.delete(path);
  }

  /** Returns paths that were known when the scan began and that it has not found. */
  unfound(): Set<string> {
    return new Set([...this.taken.unfound(), ...this.#unfound]);
  }

  /** Returns the paths whose file was renamed and is now settling at another path. */
  renamed(paths: readonly string[]): ReadonlySet<string> {
    const versions = paths.flatMap((path) => {
      const version = this.taken.get(path);
      return version === undefined ? [] : [{ path, version }];
    });
    const inodes = new Set(versions.map(({ version }) => version.ino));
    // Filtered by inode first: building a key for each of 100,000 waiting files would block the event loop.
    const candidates = this.waiting.values().filter(({ version }) => inodes.has(version.ino));
    const arriving = new Set(candidates.map(({ version }) => lookKey(version)));
    return new Set(versions.filter(({ version }) => arriving.has(lookKey(version))).map(({ path }) => path));
  }
}

/** Pseudo-state of sidecars and proofs, which have no row. */
export const sidecarState = 'sidecar';

type TellKnown = (tell: (file: KnownFile) => void) => Promise<void>;

/**
 * Compares the inventory with a ledger that may have lost rows, and adopts the ledger's current view of each file.
 *
 * @returns paths of files that the sink accepted but that the ledger lacks or has in another version
 */
export async function lostFiles({ taken, waiting }: Inventory, tellKnown: TellKnown): Promise<readonly string[]> {
  const known = new TakenFiles();
  await tellKnown(({ path, version, state }) => {
    known.set(path, version);
    known.setState(path, state);
  });
  const lost = [...taken.entries()].filter(
    ([path, version]) => taken.state(path) !== sidecarState && !known.isSame(path, version),
  );
  for (const [path, version] of known.entries()) {
    // Added as known, so the next scan notices if the file is missing.
    if (!taken.has(path) && !waiting.has(path)) taken.set(path, version);
    taken.setState(path, known.state(path));
  }
  return lost.map(([path]) => path);
}

/**
 * Puts each path into exactly one account. Refused takes precedence over settling, settling over comparing, and
 * comparing over known.
 *
 * @param outside paths counted elsewhere: refused, ignored (a number), and being compared
 */
export function accountsOf(
  { taken, waiting }: Inventory,
  outside: {
    readonly refused: ReadonlyMap<string, unknown>;
    readonly ignored: number;
    readonly comparing: Iterable<string>;
  },
): Accounts {
  const { refused, ignored } = outside;
  const states = taken.countStates();
  const leave = (path: string): void => {
    const state = taken.state(path);
    states.set(state, (states.get(state) ?? 0) - 1);
  };
  let settling = 0;
  /** Paths seen but not accepted by the sink. */
  let untaken = 0;
  // Iterates without a copy: up to 100,000 files may be settling, and this runs several times a second.
  for (const path of waiting.keys()) {
    if (refused.has(path)) continue;
    settling += 1;
    if (taken.has(path)) leave(path);
    else untaken += 1;
  }
  for (const path of refused.keys()) {
    if (taken.has(path)) leave(path);
    else untaken += 1;
  }
  const comparing = [...outside.comparing].filter(
    (path) => taken.has(path) && !waiting.has(path) && !refused.has(path),
  );
  for (const path of comparing) leave(path);
  const seen = taken.size + untaken + ignored;
  const sidecars = states.get(sidecarState) ?? 0;
  const known = [...states].filter(([state, count]) => state !== null && state !== sidecarState && count > 0);
  const counted = {
    settling,
    comparing: comparing.length,
    sidecars,
    ignored,
    refused: refused.size,
  };
  const sum = [...Object.values(counted), ...known.map(([, count]) => count)].reduce((one, other) => one + other, 0);
  return { seen, ...counted, known: Object.fromEntries(known), unaccounted: seen - sum };
}

/** Sums the accounts of files that the sink has accepted. */
export function countsOf({ seen, settling, ignored, refused }: Accounts): WatchCounts {
  return { seen, settling, offered: seen - settling - ignored - refused, ignored, refused };
}

export function sumOfAccounts(all: readonly Accounts[]): Accounts {
  const sum = (of: (accounts: Accounts) => number): number => all.reduce((total, each) => total + of(each), 0);
  const states = new Set(all.flatMap(({ known }) => Object.keys(known)));
  return {
    seen: sum(({ seen }) => seen),
    settling: sum(({ settling }) => settling),
    comparing: sum(({ comparing }) => comparing),
    known: Object.fromEntries([...states].map((state) => [state, sum(({ known }) => known[state] ?? 0)])),
    sidecars: sum(({ sidecars }) => sidecars),
    ignored: sum(({ ignored }) => ignored),
    refused: sum(({ refused }) => refused),
    unaccounted: sum(({ unaccounted }) => unaccounted),
  };
}

/** Collects the files that a scan leaves out, using bounded memory. */
export class LeftOutFiles {
  readonly #isExcluded: (path: string) => boolean;
  readonly #extensions = new Map<string, number>();
  readonly #media: string[] = [];
  readonly #others: string[] = [];
  #files = 0;
  #mediaFiles = 0;

  constructor(isExcluded: (path: string) => boolean) {
    this.#isExcluded = isExcluded;
  }

  add(path: string): void {
    this.#files += 1;
    const extension = mediaExtensionOf(path);
    const isMedia = extension !== null && !this.#isExcluded(path);
    const paths = isMedia ? this.#media : this.#others;
    if (paths.length < MOST_PATHS) paths.push(path);
    if (!isMedia) return;
    this.#mediaFiles += 1;
    this.#extensions.set(extension, (this.#extensions.get(extension) ?? 0) + 1);
  }

  summary(): LeftOut {
    const extensions = [...this.#extensions].toSorted(([, one], [, other]) => other - one).slice(0, MOST_EXTENSIONS);
    return {
      files: this.#files,
      media: this.#mediaFiles,
      extensions: extensions.map(([extension]) => extension),
      paths: [...this.#media, ...this.#others].slice(0, MOST_PATHS),
    };
  }
}

const MOST_PATHS = 1_000;
const MOST_EXTENSIONS = 20;

/** Formats `43 left out; 21 look like video: .wmv, .mts`. Empty if no files were left out. */
export function leftOutWords({ files, media, extensions }: Omit<LeftOut, 'paths'>): string {
  if (files === 0) return '';
  if (media === 0) return `${files} left out`;
  return `${files} left out; ${media} look${media === 1 ? 's' : ''} like video: ${extensions.join(', ')}`;
}
