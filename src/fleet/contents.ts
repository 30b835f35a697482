import type { Logger } from '../log/logger.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Clock, LocalFiles } from '../pipeline/file/ports.ts';
import type { ContentWords, FleetView, Host } from '../view/hosts/fleet-view.ts';

export interface ContentsWorld {
  readonly fleet: Pick<FleetView, 'self' | 'known' | 'hosts'>;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'elapsed'>;
  isHere(folder: string): boolean;
  load(id: string): Promise<Facts | null>;
  /** Hashes a file on this host. */
  readonly hash: LocalFiles['hash'];
  /** Writes this host's row now and makes the other hosts read it. */
  tell(): Promise<void>;
}

/**
 * How long a question stays in this host's row, in milliseconds. A waiting file repeats its question every 20 s; the
 * answer stays in the other host's row as long as the question.
 */
const askedMs = 60_000;

/** Limit on pending questions: every write of this host's row contains all of them. */
const mostAsked = 200;

/**
 * How long to wait for an answer, in milliseconds. The other host needs time to read the whole file, but a hung disk
 * there must not block this host.
 */
const patienceOf = (sizeBytes: number): number => 60_000 + sizeBytes / slowestBytesPerMs;
const slowestBytesPerMs = 10_000;

/**
 * Hashes of files that only another host can read. This host asks for a hash in its row of the host table, and the
 * other host answers in its own row. As a result, two hosts that receive the same content in their own folders upload
 * it once. Without an answer the file continues, because one upload too many is better than none
 * (docs/decisions/0078-hosts-ask-each-other-for-hashes.md).
 */
export class Contents implements AsyncDisposable {
  readonly #world: ContentsWorld;
  readonly #closing = new AbortController();
  readonly #asked = new Map<string, number>();
  readonly #known = new Map<string, string | null>();
  /** Files whose hash was requested, but that are in folders of other hosts. */
  readonly #ofOthers = new Set<string>();
  readonly #toRead = new Set<string>();
  #reading: Promise<void> | null = null;
  #looked = Promise.withResolvers<void>();

  constructor(world: ContentsWorld) {
    this.#world = world;
  }

  words(): ContentWords {
    const since = this.#world.clock.elapsed() - askedMs;
    for (const [id, at] of this.#asked) if (at < since) this.#asked.delete(id);
    return { asked: [...this.#asked.keys()], known: Object.fromEntries(this.#known) };
  }

  /**
   * Waits until the host that can read a file has hashed it.
   *
   * @returns null: this host can read the file itself, no running host can, no answer arrived in time, or the wait was
   *   cancelled
   * @throws {LedgerUnavailableError}
   */
  async hashOf(facts: Facts, signal: AbortSignal): Promise<string | null> {
    if (this.#world.isHere(facts.folder)) return null;
    // Refreshes the host list, because the other copy may be on a host that has just started.
    await this.#world.fleet.hosts();
    const given = AbortSignal.any([signal, this.#closing.signal]);
    const endsAt = this.#world.clock.elapsed() + patienceOf(facts.version.size);
    while (!given.aborted && this.#world.clock.elapsed() < endsAt) {
      const reader = this.#readerOf(facts.folder);
      if (reader === null || !this.#ask(facts.id)) return null;
      const answer = reader.doing.contents?.known[facts.id];
      if (answer !== undefined) return answer;
      await this.#nextLook(given);
    }
    return null;
  }

  /** Answers other hosts' questions, and lets waiting files check for answers. Call it after reading the host rows. */
  look(): void {
    this.#answer();
    this.#looked.resolve();
    this.#looked = Promise.withResolvers();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#reading;
  }

  /**
   * Finds a running host that watches the place, or has not reported its folders yet. Skips hosts whose release cannot
   * answer.
   */
  #readerOf(folder: string): Host | null {
    const reads = ({ name, doing: { contents, places, slots } }: Host): boolean =>
      contents === undefined ? slots === 0 && folder.startsWith(`${name}:`) : places.includes(folder);
    return this.#others().find(reads) ?? null;
  }

  #others(): readonly Host[] {
    const { self } = this.#world.fleet;
    return this.#world.fleet.known().filter(({ name, isHeard, isStopped }) => name !== self && isHeard && !isStopped);
  }

  /** Adds a question to this host's row. @returns false if too many questions are pending */
  #ask(id: string): boolean {
    const isNew = !this.#asked.has(id);
    if (isNew && this.#asked.size >= mostAsked) return false;
    this.#asked.set(id, this.#world.clock.elapsed());
    if (isNew) void this.#tell();
    return true;
  }

  #answer(): void {
    const asked = new Set(this.#others().flatMap(({ doing }) => doing.contents?.asked ?? []));
    for (const files of [this.#known, this.#ofOthers, this.#toRead])
      for (const id of files.keys()) if (!asked.has(id)) files.delete(id);
    for (const id of asked) if (!this.#known.has(id) && !this.#ofOthers.has(id)) this.#toRead.add(id);
    this.#readOn();
  }

  #readOn(): void {
    if (this.#toRead.size === 0 || this.#closing.signal.aborted) return;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
      // A question may have arrived after the last file was read.
      this.#readOn();
    });
  }

  /** Hashes the requested files one at a time, because uploads use the same disk. Never rejects. */
  async #readAll(): Promise<void> {
    for (const id of this.#toRead) {
      if (this.#closing.signal.aborted) return;
      try {
        await this.#read(id);
      } catch (err) {
        this.#world.logger.warn('Cannot send the hash of a file to another host', { file: id, err });
      }
      this.#toRead.delete(id);
    }
  }

  async #read(id: string): Promise<void> {
    const facts = await this.#world.load(id);
    if (facts === null || !this.#world.isHere(facts.folder)) {
      this.#ofOthers.add(id);
      return;
    }
    const answer = await this.#world.hash(facts, this.#closing.signal);
    this.#known.set(id, answer.ok ? answer.value : null);
    await this.#tell();
  }

  /** Publishes this host's row. If that fails, the other hosts read the row a few seconds later anyway. */
  async #tell(): Promise<void> {
    await this.#world
      .tell()
      .catch((err: unknown) => this.#world.logger.debug('Cannot notify the other hosts', { err }));
  }

  async #nextLook(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>();
    const abort = (): void => aborted.resolve();
    signal.addEventListener('abort', abort, { once: true });
    await Promise.race([this.#looked.promise, aborted.promise]);
    signal.removeEventListener('abort', abort);
  }
}
