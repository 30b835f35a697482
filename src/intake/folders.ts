import { lstat } from 'node:fs/promises';
import { relative } from 'node:path';
import { answered } from '../config/answered.ts';
import type { Config, FolderConfig } from '../config/config.ts';
import type { Logger } from '../log/logger.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Accepted, Arrival, Intake } from './intake.ts';
import type { IntakeStore } from '../pipeline/file/ports.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { watchFolder } from '../watch/watcher.ts';
import type {
  CompleteFile,
  FolderWatcher,
  RefusedPath,
  RootState,
  SettlingFile,
  WatchCounts,
  WatchSink,
} from '../watch/ports.ts';
import type { Route } from '../routing/plan.ts';
import { versionOf } from '../pipeline/file/file-version.ts';
import { isThere } from '../disk/local-files.ts';
import { createRouter, folderOf } from './folder-router.ts';
import type { FolderRouter } from './folder-router.ts';

export interface FolderStatus {
  readonly path: string;
  readonly state: 'starting' | 'watching' | 'degraded' | 'frozen';
  readonly why: string | null;
  /** Where the paths in it went: each is in exactly one of these. */
  readonly paths: WatchCounts;
  /** The first of those that are refused. */
  readonly refused: RefusedPath | null;
}

/** The watched folders of a configuration and the way of their files into the ledger. */
export interface Folders extends AsyncDisposable {
  /** Resolves when it is known which folders are there. Their first full scans, of an hour if need be, go on from then. */
  start(): Promise<void>;
  /** Takes over another configuration: folders that are the same go on, files that were held for want of a rule are routed anew. */
  change(config: Config): Promise<void>;
  status(): readonly FolderStatus[];
  /** Those that are still looked through for the first time; one that is away is not. */
  unscanned(): readonly string[];
  /** How many are away, or cannot be read. */
  away(): number;
  /** The videos and links that settle; sidecars speak for their videos. */
  settling(): readonly SettlingFile[];
  /** Whether anything may still come in by itself: a first look goes on, or something settles, sidecars too. */
  isSettling(): boolean;
  /** Why what is missing in a folder proves nothing, or null; see `FolderWatcher`. */
  whyAway(folder: string, missing?: string): Promise<string | null>;
  /** Takes a file as it is now, whatever the filters and the settle time say. */
  add(absolutePath: string): Promise<AddResult>;
  /** Asks the rules again about a file of which nothing was sent: they may have been mended since. */
  routeAnew(facts: Facts): Promise<Accepted>;
  /** Looks at the disk now. */
  rescan(): Promise<void>;
}

export type AddResult = { readonly ok: true; readonly as: Accepted } | { readonly ok: false; readonly why: string };

interface Watched {
  readonly router: FolderRouter;
  readonly watcher: FolderWatcher;
  state: RootState | null;
  /** The first full scan is over. */
  isScanned: boolean;
}

/** Thrown to the watcher so that it offers the file again: a step works on it right now. */
class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** Thrown to the watcher so that it looks again: the file or its folder has gone away. */
class AwayError extends Error {
  override readonly name = 'AwayError';
}

export function createFolders(options: {
  readonly config: Config;
  readonly intake: () => Intake;
  readonly ledger: LedgerView & Pick<IntakeStore, 'atPath' | 'unrouted'>;
  readonly logger: Logger;
  /** A file could not be taken in: a mistake of ours, or the machine is at its limits. */
  readonly broke: (error: unknown) => void;
  /** A file came in or moved on. */
  readonly tookIn: () => void;
  /** A folder that was away is back. */
  readonly back: (folder: string) => void;
}): Folders {
  const { ledger, logger, tookIn } = options;
  const watched = new Map<string, Watched>();
  let folders = options.config.folders;

  const take = async (router: FolderRouter, file: CompleteFile): Promise<Accepted> => {
    const arrival = await arrivalOf(router, file);
    if (arrival === null) throw new AwayError(file.path);
    const accepted = await options
      .intake()
      .accept(arrival)
      .catch((error: unknown) => {
        options.broke(error);
        throw error;
      });
    if (accepted === 'busy') return accepted;
    if (accepted !== 'known') {
      const { flaw, route } = arrival;
      const why = flaw ?? (route.kind === 'held' ? route.why : null);
      const fields = { path: `${file.folder}/${file.path}`, as: accepted, size: file.version.size };
      if (why === null) logger.info('A file came in', fields);
      else logger.warn('A file came in and is held', { ...fields, why });
      tookIn();
    }
    return accepted;
  };

  const reroute = async (router: FolderRouter, facts: Facts): Promise<Accepted> => {
    const route = await routeOf(router, facts);
    if (route === null) return 'known';
    const accepted = await options.intake().reroute(facts, route);
    if (accepted === 'rerouted') tookIn();
    return accepted;
  };

  const rerouteBeside = async (router: FolderRouter, sidecarPath: string): Promise<void> => {
    for (const path of await router.mediaOf(sidecarPath)) {
      const facts = await ledger.atPath(router.folder.path, path);
      if (facts !== null && (await reroute(router, facts)) === 'busy') throw new BusyError(path);
    }
  };

  const sinkOf = (router: FolderRouter): WatchSink => ({
    complete: async (file) => {
      if (file.kind === 'sidecar') await rerouteBeside(router, file.path);
      else if ((await take(router, file)) === 'busy') throw new BusyError(file.path);
    },
    gone: async (folder, path) => {
      if (router.accepts(path) === 'sidecar') await rerouteBeside(router, path);
      else await options.intake().gone(folder, path);
    },
    root: (folder, state) => {
      const entry = watched.get(folder);
      if (entry === undefined) return;
      // At the start too: what waited for the folder may have done so since before.
      const wasAway = entry.state === null || entry.state.state === 'frozen';
      entry.state = state;
      if (wasAway && state.state !== 'frozen') options.back(folder);
    },
  });

  const open = (folder: FolderConfig, all: readonly FolderConfig[]): Watched => {
    const router = createRouter(folder);
    const watcher = watchFolder({
      folder: {
        path: folder.path,
        settleMs: folder.settleMs,
        rescanMs: folder.rescanMs,
        watch: folder.watch,
        accepts: (path) => router.accepts(path),
        nested: all.map(({ path }) => path).filter((path) => path.startsWith(`${folder.path}/`)),
      },
      sink: sinkOf(router),
      known: { known: (path) => ledger.known(path) },
      logger,
    });
    return { router, watcher, state: null, isScanned: false };
  };

  let isClosed = false;
  /** What nobody waits for but the end: with 100,000 files it takes its time. */
  const underWay = new Set<Promise<void>>();
  const inBackground = (what: string, work: () => Promise<void>): void => {
    const run = work()
      .catch((error: unknown) => logger.error(`${what} broke`, { err: error }))
      .finally(() => underWay.delete(run));
    underWay.add(run);
  };

  const scan = async (entry: Watched): Promise<void> => {
    await entry.watcher.start();
    entry.isScanned = true;
  };

  const openAll = async (some: readonly FolderConfig[]): Promise<void> => {
    const opened = some.map((folder) => open(folder, folders));
    for (const entry of opened) watched.set(entry.router.folder.path, entry);
    // One that does not answer is gone on waiting for by its first scan.
    await Promise.all(opened.map(({ watcher }) => answered(watcher.begin())));
    if (isClosed) return;
    inBackground('Routing held files anew', () => rerouteHeld());
    for (const entry of opened) inBackground('The first scan', () => scan(entry));
  };

  const rerouteHeld = async (isWanted: (facts: Facts) => boolean = () => true): Promise<void> => {
    for (const facts of (await ledger.unrouted()).filter(isWanted)) {
      if (isClosed) return;
      const entry = watched.get(facts.folder);
      if (entry !== undefined) await reroute(entry.router, facts);
    }
  };

  /** Nobody tells of a sidecar that is taken away before it has settled: what a sidecar holds back is looked at again. */
  let sidecarCheck: NodeJS.Timeout | null = null;
  const checkSidecars = (): void => {
    sidecarCheck = setTimeout(
      () => {
        rerouteHeld(({ why }) => why?.includes('sidecar') === true)
          .catch((error: unknown) => logger.error('Sidecars could not be looked at again', { err: error }))
          .finally(() => sidecarCheck !== null && checkSidecars());
      },
      Math.min(...folders.map(({ rescanMs }) => rescanMs)),
    ).unref();
  };
  const stopCheckingSidecars = (): void => {
    if (sidecarCheck !== null) clearTimeout(sidecarCheck);
    sidecarCheck = null;
  };

  return {
    start: async () => {
      await openAll(folders);
      checkSidecars();
    },
    change: async (config) => {
      if (isClosed) return;
      const before = new Map(folders.map((folder) => [folder.path, JSON.stringify(folder)]));
      const same = new Set(
        config.folders.filter((folder) => before.get(folder.path) === JSON.stringify(folder)).map(({ path }) => path),
      );
      const isSameSet =
        config.folders.length === folders.length && config.folders.every(({ path }) => before.has(path));
      folders = config.folders;
      for (const [path, { watcher }] of watched) {
        // Another set of folders changes which are nested in which.
        if (isSameSet && same.has(path)) continue;
        watched.delete(path);
        await watcher[Symbol.asyncDispose]();
        // The end may have come meanwhile: nobody would close what is opened from here on.
        if (isClosed) return;
      }
      await openAll(config.folders.filter(({ path }) => !watched.has(path)));
    },
    status: () => [...watched.values()].map(statusOf),
    unscanned: () => [...watched.values()].filter(isUnscanned).map(({ router }) => router.folder.path),
    away: () => [...watched.values()].filter(({ state }) => state?.state === 'frozen').length,
    settling: () =>
      [...watched.values()].flatMap(({ router, watcher }) =>
        watcher.settling().filter(({ path }) => router.accepts(path) !== 'sidecar'),
      ),
    isSettling: () => underWay.size > 0 || [...watched.values()].some(({ watcher }) => watcher.settling().length > 0),
    whyAway: async (folder, missing) => (await watched.get(folder)?.watcher.whyAway(missing)) ?? null,
    add: async (absolutePath) => {
      const stats = await lstat(absolutePath, { bigint: true }).catch(() => null);
      if (stats === null) return { ok: false, why: 'there is no such file' };
      if (!stats.isFile()) return { ok: false, why: 'it is not a regular file' };
      const folder = folderOf(folders, absolutePath);
      const router = folder === null ? undefined : watched.get(folder.path)?.router;
      if (router === undefined) return { ok: false, why: 'it is in no watched folder' };
      if (stats.size === 0n) return { ok: false, why: 'it is empty' };
      const path = relative(router.folder.path, absolutePath);
      const kind = router.accepts(path) ?? 'media';
      if (kind === 'sidecar') return { ok: false, why: 'it is a sidecar: it goes with its video' };
      const file = { folder: router.folder.path, path, kind, version: versionOf(stats), flaw: null };
      const as = await take(router, file);
      return as === 'busy' ? { ok: false, why: 'it is being worked on' } : { ok: true, as };
    },
    routeAnew: async (facts) => {
      const router = watched.get(facts.folder)?.router;
      return router === undefined || facts.videoId !== null ? 'known' : reroute(router, facts);
    },
    rescan: async () => {
      await Promise.all([...watched.values()].map(({ watcher }) => watcher.rescan()));
    },
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
      stopCheckingSidecars();
      await Promise.all([...watched.values()].map(({ watcher }) => watcher[Symbol.asyncDispose]()));
      await Promise.all(underWay);
    },
  };
}

function isUnscanned({ isScanned, state }: Watched): boolean {
  return !isScanned && state?.state !== 'frozen';
}

/** That it is watched is said only once all of it was seen. */
function statusOf(entry: Watched): FolderStatus {
  const { router, watcher, state } = entry;
  const known = { path: router.folder.path, paths: watcher.counts(), refused: watcher.firstRefused() };
  if (isUnscanned(entry)) return { ...known, state: 'starting', why: 'looking at all of its files for the first time' };
  return { ...known, state: state?.state ?? 'starting', why: state !== null && 'why' in state ? state.why : null };
}

/** Where a file goes; null when it is not there: what was not found beside it then proves nothing. */
async function routeOf(router: FolderRouter, file: Pick<CompleteFile, 'path' | 'version'>): Promise<Route | null> {
  const route = await router.route(file.path, file.version);
  return (await isThere(router.folder.path, file.path)) ? route : null;
}

async function arrivalOf(router: FolderRouter, file: CompleteFile): Promise<Arrival | null> {
  const { onDuplicate, onChange, afterReady } = router.folder;
  const link = file.kind === 'link' ? await router.sourceUrl(file.path) : null;
  const route = await routeOf(router, file);
  return (
    route && {
      folder: file.folder,
      path: file.path,
      version: file.version,
      flaw: file.flaw ?? (link?.ok === false ? link.why : null),
      sourceUrl: link?.ok === true ? link.url : null,
      route,
      onDuplicate,
      onChange,
      afterReady,
    }
  );
}
