import { answered } from '../config/answered.ts';
import type { FolderConfig } from '../config/config.ts';
import type { LedgerView } from '../ledger/view.ts';
import type { Logger } from '../log/logger.ts';
import type { Events } from '../pipeline/events.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { IntakeStore } from '../pipeline/file/ports.ts';
import type { CompleteFile, FolderWatcher, RefusedPath, RootState, SettlingFile, WatchCounts } from '../watch/ports.ts';
import { watchFolder } from '../watch/watcher.ts';
import { arrivalOf, routeOf } from './arrival.ts';
import type { Arrival } from './arrival.ts';
import { createRouter } from './folder-router.ts';
import type { FolderRouter } from './folder-router.ts';
import type { Accepted, Intake } from './intake.ts';

export interface FolderStatus {
  readonly path: string;
  readonly state: 'starting' | 'watching' | 'degraded' | 'frozen';
  readonly why: string | null;
  /** Every path in the folder is in exactly one of these. */
  readonly paths: WatchCounts;
  /** The first of those that are refused. */
  readonly refused: RefusedPath | null;
}

export interface FolderWorld {
  readonly intake: Intake;
  readonly ledger: Pick<LedgerView, 'known'> & Pick<IntakeStore, 'atPath'>;
  readonly events: Events;
  readonly logger: Logger;
  /** A file could not be taken in: a bug, or the machine is at its limits. */
  readonly broke: (error: unknown) => void;
  /** A file came in or moved on. */
  readonly tookIn: () => void;
}

/** Thrown to the watcher so that it offers the file again: a step works on it right now. */
class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** Thrown to the watcher so that it looks again: the file or its folder is gone. */
class AwayError extends Error {
  override readonly name = 'AwayError';
}

/** One watched folder and the way of its files into the ledger: a complete file → what lies beside it → its rule → a row. */
export class WatchedFolder implements AsyncDisposable {
  readonly router: FolderRouter;
  readonly watcher: FolderWatcher;
  readonly #world: FolderWorld;
  #state: RootState | null = null;
  #isScanned = false;

  /** @param nested absolute paths of watched folders inside this one */
  constructor(folder: FolderConfig, nested: readonly string[], world: FolderWorld) {
    const { path, settleMs, rescanMs, watch } = folder;
    this.#world = world;
    this.router = createRouter(folder);
    this.watcher = watchFolder({
      folder: { path, settleMs, rescanMs, watch, accepts: (name) => this.router.accepts(name), nested },
      sink: {
        complete: (file) => this.#complete(file),
        gone: (_, name) => this.#gone(name),
        root: (_, state) => this.#changed(state),
      },
      known: { known: (name) => world.ledger.known(name) },
      logger: world.logger,
    });
  }

  get path(): string {
    return this.router.folder.path;
  }

  get isAway(): boolean {
    return this.#state?.state === 'frozen';
  }

  /** The first full scan is under way. A folder that is away is not scanned. */
  get isUnscanned(): boolean {
    return !this.#isScanned && !this.isAway;
  }

  /** Resolves when it is known whether the folder is there. One that does not answer in time leaves that to its first scan. */
  async begin(): Promise<void> {
    await answered(this.watcher.begin());
  }

  async firstScan(): Promise<void> {
    await this.watcher.start();
    this.#isScanned = true;
  }

  /** It counts as watched only once all of it was seen. */
  status(): FolderStatus {
    const known = { path: this.path, paths: this.watcher.counts(), refused: this.watcher.firstRefused() };
    const state = this.#state;
    if (this.isUnscanned) return { ...known, state: 'starting', why: 'scanning all of its files for the first time' };
    return { ...known, state: state?.state ?? 'starting', why: state !== null && 'why' in state ? state.why : null };
  }

  /** The videos and links that settle; a sidecar counts with its video. */
  settling(): readonly SettlingFile[] {
    return this.watcher.settling().filter(({ path }) => this.router.accepts(path) !== 'sidecar');
  }

  /** @throws {AwayError} and what the ledger throws */
  async take(file: CompleteFile): Promise<Accepted> {
    const { intake, broke, tookIn } = this.#world;
    const arrival = await arrivalOf(this.router, file);
    if (arrival === null) throw new AwayError(file.path);
    const accepted = await intake.accept(arrival).catch((error: unknown) => {
      broke(error);
      throw error;
    });
    if (accepted === 'busy' || accepted === 'known') return accepted;
    this.#log(arrival, accepted);
    tookIn();
    return accepted;
  }

  /** Asks the rules and the sidecar again where a known file goes. */
  async reroute(facts: Facts): Promise<Accepted> {
    const route = await routeOf(this.router, facts);
    if (route === null) return 'known';
    const accepted = await this.#world.intake.reroute(facts, route);
    if (accepted === 'rerouted') this.#world.tookIn();
    return accepted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watcher[Symbol.asyncDispose]();
  }

  async #complete(file: CompleteFile): Promise<void> {
    if (file.kind === 'sidecar') await this.#rerouteBeside(file.path);
    else if ((await this.take(file)) === 'busy') throw new BusyError(file.path);
  }

  async #gone(path: string): Promise<void> {
    if (this.router.accepts(path) === 'sidecar') await this.#rerouteBeside(path);
    else await this.#world.intake.gone(this.path, path);
  }

  async #rerouteBeside(sidecarPath: string): Promise<void> {
    for (const path of await this.router.mediaOf(sidecarPath)) {
      const facts = await this.#world.ledger.atPath(this.path, path);
      if (facts !== null && (await this.reroute(facts)) === 'busy') throw new BusyError(path);
    }
  }

  #changed(state: RootState): void {
    this.#state = state;
    const why = 'why' in state ? state.why : null;
    this.#world.events.emit({ type: 'folder', folder: this.path, state: state.state, why });
  }

  #log({ folder, path, version, flaw, route }: Arrival, accepted: Accepted): void {
    const { logger } = this.#world;
    const why = flaw ?? (route.kind === 'held' ? route.why : null);
    const fields = { path: `${folder}/${path}`, as: accepted, size: version.size };
    if (why === null) logger.info('A file came in', fields);
    else logger.warn('A file came in and is held', { ...fields, why });
  }
}
