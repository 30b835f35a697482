import { join } from 'node:path';
import { isThere } from '../disk/local-files.ts';
import type { Logger } from '../log/logger.ts';
import type { Events } from '../pipeline/events.ts';
import { isGivenUp } from '../pipeline/file/facts.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { isSameVersion } from '../pipeline/file/file-version.ts';
import type { IntakeStore } from '../pipeline/file/ports.ts';
import { lookAt } from '../watch/path-entry.ts';
import { NotNowError } from '../watch/ports.ts';
import type { ClosedDirectory, CompleteFile } from '../watch/ports.ts';
import { arrivalOf, routeOf } from './arrival.ts';
import type { Arrival } from './arrival.ts';
import { Comparisons } from './comparisons.ts';
import type { FirstStart } from './first-start.ts';
import type { FolderRouter } from './folder-router.ts';
import type { Accepted, Intake } from './intake.ts';
import { LoneSidecars } from './lone-sidecars.ts';
import type { LoneSidecarsView } from './lone-sidecars.ts';

export interface FolderIntakeWorld {
  readonly intake: Intake;
  readonly ledger: Pick<IntakeStore, 'atPath' | 'pathsNamed'>;
  readonly events: Events;
  readonly logger: Logger;
  /** A file could not be taken in: a bug, or the machine is at its limits. */
  readonly broke: (error: unknown) => void;
  /** The row that stands for a file of the folder, found and left as it is. */
  readonly stands: (facts: Facts) => void;
  /** A file came in or moved on. */
  readonly tookIn: () => void;
}

/** Thrown to the watcher so that it offers the file again: a step works on it right now. */
class BusyError extends NotNowError {
  override readonly name = 'BusyError';
}

/** Thrown to the watcher so that it looks again: the file or its folder is gone. */
class AwayError extends NotNowError {
  override readonly name = 'AwayError';
}

/** The way of one folder's files into the ledger: a complete file → what lies beside it → its rule → a row. */
export class FolderIntake implements AsyncDisposable {
  readonly #router: FolderRouter;
  readonly #world: FolderIntakeWorld;
  readonly #first: Pick<FirstStart, 'leaving'>;
  readonly #comparisons: Comparisons;
  readonly #lone = new LoneSidecars();

  constructor(router: FolderRouter, first: Pick<FirstStart, 'leaving'>, world: FolderIntakeWorld) {
    this.#router = router;
    this.#first = first;
    this.#world = world;
    this.#comparisons = new Comparisons({ ...world, compare: (file, signal) => this.#compare(file, signal) });
  }

  /** The watcher offers a file. @throws {BusyError} @throws {AwayError} and what the ledger throws: offer it again */
  async complete(file: CompleteFile): Promise<void> {
    if (file.kind === 'proof') return this.#proofChanged(file.path);
    if (file.kind === 'sidecar') {
      await this.#rerouteBeside(file.path);
      // With the folder away, nothing is found beside it: that proves nothing.
      if (!(await isThere(file.folder, file.path))) throw new AwayError(file.path);
    } else if ((await this.take(file)) === 'busy') throw new BusyError(file.path);
  }

  /** The watcher misses a file. @throws {BusyError} and what the ledger throws: report it again */
  async gone(path: string): Promise<void> {
    const kind = this.#router.accepts(path);
    if (kind === 'proof') return this.#proofChanged(path);
    if (kind === 'sidecar') {
      await this.#rerouteBeside(path);
      this.#lone.delete(path);
    } else if ((await this.#world.intake.gone(this.#router.folder.path, path)) === 'busy') throw new BusyError(path);
  }

  /** The watcher may not open a directory. @throws what the ledger throws: report it again */
  async closed(directory: ClosedDirectory): Promise<void> {
    await this.#world.intake.closed(directory, this.#router.folder);
    this.#world.tookIn();
  }

  /**
   * `unread`: its content is compared in its turn.
   *
   * @param isWanted a person asks for it
   * @throws {AwayError} and what the ledger throws
   */
  async take(file: CompleteFile, isWanted = false): Promise<Accepted> {
    const arrival = await arrivalOf(this.#router, file, { first: this.#first, isWanted });
    if (arrival === null) throw new AwayError(file.path);
    this.#lone.matched(file.path);
    const accepted = await this.#note(arrival, this.#world.intake.accept(arrival));
    if (accepted === 'unread') this.#comparisons.add(file);
    if (accepted !== 'new') await this.#tellState(file);
    return accepted;
  }

  /** Files whose content is compared before anything is decided about them. */
  unread(): readonly CompleteFile[] {
    return this.#comparisons.files();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#comparisons[Symbol.asyncDispose]();
  }

  /** Asks the rules and the sidecar again where a known file goes. Null when it is not there, perhaps with its whole folder. */
  async reroute(facts: Facts): Promise<Accepted | null> {
    const route = await routeOf(this.#router, facts);
    if (route === null) return null;
    const accepted = await this.#world.intake.reroute(facts, route);
    if (accepted === 'rerouted') this.#world.tookIn();
    return accepted;
  }

  /**
   * The known videos and links that have this sidecar. Asked of the ledger, not of the directory: listing it for each of thousands of
   * sidecars would take minutes, and a file that is not known yet reads its sidecar when it is taken in.
   */
  async namedLike(sidecarPath: string): Promise<readonly string[]> {
    return videosNamedLike(sidecarPath, this.#router, this.#world.ledger);
  }

  /** @param waiting paths of videos that still settle */
  loneSidecars(waiting: Iterable<string>): LoneSidecarsView {
    return this.#lone.view(waiting);
  }

  /** A row that was not written says nothing by itself. */
  async #tellState({ folder, path }: CompleteFile): Promise<void> {
    const facts = await this.#world.ledger.atPath(folder, path);
    if (facts !== null && !isGivenUp(facts)) this.#world.stands(facts);
  }

  /** @returns whether it was decided */
  async #compare(file: CompleteFile, signal: AbortSignal): Promise<boolean> {
    const entry = await lookAt(join(file.folder, file.path));
    // What became of it is offered, or reported gone.
    if (entry.is !== 'unclear' && (entry.is !== 'file' || !isSameVersion(entry.version, file.version))) return true;
    const arrival = await arrivalOf(this.#router, file, { first: this.#first, isWanted: false });
    if (arrival === null) return false;
    const accepted = await this.#note(arrival, this.#world.intake.compare(arrival, signal));
    return accepted !== 'busy' && accepted !== 'unread';
  }

  async #note(arrival: Arrival, taking: Promise<Accepted>): Promise<Accepted> {
    const accepted = await taking.catch((error: unknown) => {
      this.#world.broke(error);
      throw error;
    });
    if (noNews.has(accepted)) return accepted;
    this.#tell(arrival, accepted);
    this.#world.tookIn();
    return accepted;
  }

  /** A file that is held for its checksum may be right by the one that is there now. Lists of many are asked at the regular check. */
  async #proofChanged(proofPath: string): Promise<void> {
    for (const path of await this.namedLike(proofPath)) {
      const facts = await this.#world.ledger.atPath(this.#router.folder.path, path);
      const isHeldForIt = facts?.end === 'held' && facts.lastFailure?.kind === 'mismatch';
      if (isHeldForIt && (await this.reroute(facts)) === 'busy') throw new BusyError(path);
    }
  }

  async #rerouteBeside(sidecarPath: string): Promise<void> {
    await this.#router.appeared(sidecarPath);
    const paths = await this.namedLike(sidecarPath);
    if (paths.length === 0) this.#lone.add(sidecarPath);
    else this.#lone.delete(sidecarPath);
    for (const path of paths) {
      const facts = await this.#world.ledger.atPath(this.#router.folder.path, path);
      if (facts !== null && (await this.reroute(facts)) === 'busy') throw new BusyError(path);
    }
  }

  #tell({ folder, path, version, flaw, route }: Arrival, accepted: Accepted): void {
    this.#world.events.emit({
      type: 'arrival',
      path: `${folder}/${path}`,
      size: version.size,
      as: accepted,
      heldBecause: flaw ?? (route.kind === 'held' ? route.why : null),
    });
  }
}

/** Of an archive, each file would be a line in the log. */
const noNews: ReadonlySet<Accepted> = new Set<Accepted>(['busy', 'known', 'unread', 'left']);

/** The paths of known videos and links that have this sidecar. */
export async function videosNamedLike(
  sidecarPath: string,
  router: FolderRouter,
  ledger: Pick<IntakeStore, 'pathsNamed'>,
): Promise<readonly string[]> {
  const stems = router.stemsOf(sidecarPath);
  const paths = await Promise.all(stems.map((stem) => ledger.pathsNamed(router.folder.path, stem)));
  return [...new Set(paths.flat())].filter((path) => router.isSidecarOf(path, sidecarPath));
}
