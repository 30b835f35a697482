import type { MonotonicClock } from './clock.ts';
import type { Inventory } from './inventory.ts';
import type { RootState } from './ports.ts';
import { RootCheck } from './root-check.ts';
import type { KnownVersions, RootVerdict } from './root-check.ts';
import type { RootClaim } from './root-claim.ts';

export interface RootOptions {
  /** Absolute. */
  readonly path: string;
  readonly clock: MonotonicClock;
  readonly inventory: Pick<Inventory, 'taken'>;
  /** Keeps other dropcasts off; null where nobody else can be. */
  readonly claim: Pick<RootClaim, 'hold'> | null;
  /** Once it fires, nothing is reported any more. */
  readonly signal: AbortSignal;
  /** Why events are missing, or null. */
  readonly gap: () => string | null;
  /** Called on every change, and once at the beginning. Must not throw. */
  readonly changed: (state: RootState) => void;
  readonly scanSoon: () => void;
}

/**
 * Whether the folder can be trusted: while it is away it is frozen, and nothing missing in it proves anything. Only a scan that could
 * list the folder thaws it.
 */
export class Root {
  readonly #options: RootOptions;
  readonly #check: RootCheck;
  #frozenBecause: string | null = null;
  #isForeign = false;
  #thaws = 0;
  #lastReport: string | null = null;
  #recent = { atMs: -Infinity, isSound: false };

  constructor(options: RootOptions) {
    this.#options = options;
    this.#check = new RootCheck(options.path);
  }

  get isFrozen(): boolean {
    return this.#frozenBecause !== null;
  }

  get isDoubtful(): boolean {
    return this.#check.isDoubtful;
  }

  /** Another value after the folder was away or came with another device: what was opened on it before is outdated. */
  get generation(): string {
    return `${this.#thaws} ${this.#check.device}`;
  }

  /**
   * The first look.
   *
   * @param devices of the known files
   * @param known path → version
   */
  async begin(devices: ReadonlySet<string>, known: KnownVersions): Promise<void> {
    const verdict = await this.#held(await this.#check.begin(devices, known));
    if (verdict.isSound) this.thaw();
    else this.freeze(verdict.why);
  }

  /** Whether a scan has something to scan; if not, the folder freezes. */
  async isScannable(): Promise<boolean> {
    const verdict = await this.#held(await this.#check.again(this.#options.inventory.taken));
    if (!verdict.isSound) this.freeze(verdict.why);
    return verdict.isSound;
  }

  /** Whether files may be offered now. A recent answer is enough for the many offers of a burst. */
  async isSound(): Promise<boolean> {
    const { clock, inventory } = this.#options;
    if (clock.elapsed() - this.#recent.atMs < ANSWER_VALID_MS) return this.#recent.isSound;
    if (this.isFrozen) return false;
    const verdict = await this.#held(await this.#check.again(inventory.taken));
    if (!verdict.isSound) this.#lose(verdict.why);
    this.#recent = { atMs: clock.elapsed(), isSound: verdict.isSound };
    return verdict.isSound;
  }

  /** Why a file that is not found does not count as gone, or null. Asks the disk. */
  async whyAway(): Promise<string | null> {
    const { signal, inventory, scanSoon } = this.#options;
    if (signal.aborted) return 'it is not being watched';
    if (this.isDoubtful) return 'it is on another device than before, and none of the known files is in it';
    const verdict = await this.#check.again(inventory.taken);
    if (verdict.isSound && !this.isFrozen) return null;
    // The scan checks the folder again, soon if it stays away, and reopens the watches once it is back.
    if (verdict.isSound) scanSoon();
    else this.#lose(verdict.why);
    return this.#frozenBecause;
  }

  /** A scan could list the folder. */
  thaw(): void {
    if (this.isFrozen) this.#thaws += 1;
    this.#frozenBecause = null;
    this.report();
  }

  freeze(why: string): void {
    this.#recent = { atMs: -Infinity, isSound: false };
    this.#frozenBecause = why;
    this.report();
  }

  /** Reports the state if it changed. */
  report(): void {
    const state = this.#state();
    const text = JSON.stringify(state);
    if (text === this.#lastReport || this.#options.signal.aborted) return;
    this.#lastReport = text;
    this.#options.changed(state);
  }

  /** A folder that is there may be another dropcast's. */
  async #held(verdict: RootVerdict): Promise<RootVerdict> {
    const claimed = verdict.isSound ? await this.#options.claim?.hold() : undefined;
    this.#isForeign = claimed?.isSound === false;
    return claimed ?? verdict;
  }

  /** Found away between two scans: the next one comes soon, and so do those after it while it stays away. */
  #lose(why: string): void {
    this.freeze(why);
    this.#options.scanSoon();
  }

  #state(): RootState {
    if (this.#frozenBecause !== null)
      return { state: 'frozen', why: this.#frozenBecause, ...(this.#isForeign && { isForeign: true }) };
    const gap = this.#options.gap();
    return gap === null ? { state: 'watching' } : { state: 'degraded', why: gap };
  }
}

const ANSWER_VALID_MS = 500;
