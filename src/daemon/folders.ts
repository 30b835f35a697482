import type { Config, FolderConfig } from '../config/config.ts';
import type { Logger } from '../log/logger.ts';
import type { Facts } from '../pipeline/facts.ts';
import type { Accepted, Arrival, Intake } from '../pipeline/intake.ts';
import type { IntakeStore } from '../pipeline/ports.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { watchFolder } from '../watch/folder-watcher.ts';
import type { CompleteFile, FolderWatcher, SettlingFile, WatchSink } from '../watch/sighting.ts';
import { createRouter } from './router.ts';
import type { FolderRouter } from './router.ts';

export interface FolderStatus {
  readonly path: string;
  readonly state: 'starting' | 'watching' | 'degraded' | 'frozen';
  readonly why: string | null;
}

/** The watched folders of a configuration and the way of their files into the ledger. */
export interface Folders extends AsyncDisposable {
  /** Resolves after the first full scan of each, or soon after the signal has broken it off. */
  start(stopping: AbortSignal): Promise<void>;
  /** Takes over another configuration: folders that are the same go on, files that were held for want of a rule are routed anew. */
  change(config: Config): Promise<void>;
  status(): readonly FolderStatus[];
  /** The videos and links that settle; sidecars speak for their videos. */
  settling(): readonly SettlingFile[];
  /** Whether anything settles, sidecars too. */
  isSettling(): boolean;
  /** Why a folder cannot be trusted at the moment, or null. */
  whyAway(folder: string): string | null;
  /** The router of the folder that a path is in, and the path in it; the most specific folder wins. */
  find(absolutePath: string): { readonly router: FolderRouter; readonly path: string } | null;
  /** Takes a file as it is now, without waiting for it to settle. */
  add(file: CompleteFile): Promise<Accepted>;
  /** Looks at the disk now. */
  rescan(): Promise<void>;
}

interface Watched {
  readonly router: FolderRouter;
  readonly watcher: FolderWatcher;
  status: FolderStatus;
}

/** Thrown to the watcher so that it offers the file again: a step works on it right now. */
class BusyError extends Error {
  override readonly name = 'BusyError';
}

export function createFolders(options: {
  readonly config: Config;
  readonly intake: () => Intake;
  readonly ledger: LedgerView & Pick<IntakeStore, 'atPath' | 'unrouted'>;
  readonly logger: Logger;
  /** A file came in or moved on. */
  readonly wake: () => void;
  /** A folder that was away is back. */
  readonly back: (folder: string) => void;
}): Folders {
  const { ledger, logger, wake } = options;
  const watched = new Map<string, Watched>();
  let folders = options.config.folders;

  const find = (absolutePath: string): { router: FolderRouter; path: string } | null => {
    const inside = [...watched.values()]
      .map(({ router }) => router)
      .filter(({ folder }) => absolutePath.startsWith(`${folder.path}/`))
      .toSorted((one, other) => other.folder.path.length - one.folder.path.length);
    const [router] = inside;
    return router === undefined ? null : { router, path: absolutePath.slice(router.folder.path.length + 1) };
  };

  const take = async (router: FolderRouter, file: CompleteFile): Promise<Accepted> => {
    const arrival = await arrivalOf(router, file);
    const accepted = await options.intake().accept(arrival);
    if (accepted === 'busy') return accepted;
    if (accepted !== 'known') {
      const { flaw, route } = arrival;
      const why = flaw ?? (route.kind === 'held' ? route.why : null);
      const fields = { path: `${file.folder}/${file.path}`, as: accepted, size: file.version.size };
      if (why === null) logger.info('A file came in', fields);
      else logger.warn('A file came in and is held', { ...fields, why });
      wake();
    }
    return accepted;
  };

  const reroute = async (router: FolderRouter, facts: Facts): Promise<Accepted> => {
    const accepted = await options.intake().reroute(facts, await router.route(facts.path, facts.version));
    if (accepted === 'rerouted') wake();
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
      const before = entry.status;
      entry.status = { path: folder, state: state.state, why: 'why' in state ? state.why : null };
      if (before.state === entry.status.state && before.why === entry.status.why) return;
      if (before.state === 'frozen') options.back(folder);
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
    return { router, watcher, status: { path: folder.path, state: 'starting', why: null } };
  };

  let isClosed = false;
  const close = async (): Promise<void> => {
    isClosed = true;
    stopCheckingSidecars();
    await Promise.all([...watched.values()].map(({ watcher }) => watcher[Symbol.asyncDispose]()));
  };

  const startAll = async (some: readonly FolderConfig[]): Promise<void> => {
    for (const folder of some) watched.set(folder.path, open(folder, folders));
    await Promise.all(some.map(async ({ path }) => watched.get(path)?.watcher.start()));
  };

  const rerouteHeld = async (isWanted: (facts: Facts) => boolean = () => true): Promise<void> => {
    for (const facts of (await ledger.unrouted()).filter(isWanted)) {
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
    find,
    start: async (stopping) => {
      const breakOff = (): void => void close();
      stopping.addEventListener('abort', breakOff, { once: true });
      if (!stopping.aborted) await startAll(folders);
      stopping.removeEventListener('abort', breakOff);
      if (stopping.aborted) return;
      await rerouteHeld();
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
      }
      await startAll(config.folders.filter(({ path }) => !watched.has(path)));
      await rerouteHeld();
    },
    status: () => [...watched.values()].map(({ status }) => status),
    settling: () =>
      [...watched.values()].flatMap(({ router, watcher }) =>
        watcher.settling().filter(({ path }) => router.accepts(path) !== 'sidecar'),
      ),
    isSettling: () => [...watched.values()].some(({ watcher }) => watcher.settling().length > 0),
    whyAway: (folder) => {
      const entry = watched.get(folder);
      return entry?.status.state === 'frozen' ? (entry.status.why ?? 'away') : null;
    },
    add: async (file) => {
      const entry = watched.get(file.folder);
      if (entry === undefined) throw new Error(`${file.folder} is not watched`);
      return take(entry.router, file);
    },
    rescan: async () => {
      await Promise.all([...watched.values()].map(({ watcher }) => watcher.rescan()));
    },
    [Symbol.asyncDispose]: close,
  };
}

async function arrivalOf(router: FolderRouter, file: CompleteFile): Promise<Arrival> {
  const { onDuplicate, onChange, afterReady } = router.folder;
  const link = file.kind === 'link' ? await router.sourceUrl(file.path) : null;
  return {
    folder: file.folder,
    path: file.path,
    version: file.version,
    flaw: file.flaw ?? (link?.ok === false ? link.why : null),
    sourceUrl: link?.ok === true ? link.url : null,
    route: await router.route(file.path, file.version),
    onDuplicate,
    onChange,
    afterReady,
  };
}
