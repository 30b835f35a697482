import { unlessHung } from '../unless-hung.ts';
import type { Logger } from '../log/logger.ts';
import type { MonotonicClock } from './clock.ts';
import type { Inventory } from './inventory.ts';
import type { Resumed, RootDoubt, RootState, RootStore } from './ports.ts';
import { remoteKind } from './remote-kinds.ts';
import { resumeAdvice, RootCheck } from './root-check.ts';
import type { KnownVersions, RootVerdict } from './root-check.ts';
import type { RootClaim } from './root-claim.ts';
import { RootMemory } from './root-memory.ts';

export interface RootOptions {
  /** Absolute. */
  readonly path: string;
  readonly clock: MonotonicClock;
  readonly inventory: Pick<Inventory, 'taken'>;
  /** Keeps other dropcasts off; null where nobody else can be. */
  readonly claim: Pick<RootClaim, 'hold' | 'mark' | 'trustNext'> | null;
  /** Which directory the folder was, also before this start. */
  readonly roots: RootStore;
  readonly logger: Logger;
  /** Once it fires, nothing is reported any more. */
  readonly signal: AbortSignal;
  /** Why events are missing, or null. */
  readonly gap: () => string | null;
  /** What else there is to know about events, or null. */
  readonly note: () => string | null;
  /** Called on every change, and once at the beginning. Must not throw. */
  readonly changed: (state: RootState) => void;
  readonly scanSoon: () => void;
}

export interface Missing {
  /** Paths that were recently given up and are still missing. */
  readonly before: readonly string[];
  /** How many files are missing, those given up before included. */
  readonly lost: number;
  /** How many known files are still there. */
  readonly there: number;
}

/**
 * Whether the folder can be trusted. While it is away, or most of its files are missing at once, it is frozen, and nothing missing in
 * it proves anything. Only a scan that could list the folder thaws it.
 */
export class Root {
  readonly #options: RootOptions;
  readonly #check: RootCheck;
  readonly #memory: RootMemory;
  #awayBecause: string | null = null;
  #missingBecause: string | null = null;
  #isForeign = false;
  #isAnother = false;
  /** The ledger is older than the mark of the folder. */
  #isBehind = false;
  #thaws = 0;
  #lastReport: string | null = null;
  #recent = { atMs: -Infinity, isSound: false };
  /** A look that got no answer for long; null while there is none. Each takes a thread until it is answered. */
  #hung: Promise<unknown> | null = null;
  /** A look for those who ask at the same moment: 256 files settle at once. */
  #looking: Promise<boolean> | null = null;

  constructor(options: RootOptions) {
    const { path, claim } = options;
    this.#options = options;
    this.#check = new RootCheck({ path, mark: async () => (await claim?.mark()) ?? null });
    this.#memory = new RootMemory(options);
  }

  get isFrozen(): boolean {
    return this.#frozenBecause !== null;
  }

  /** What a person has to say, or has said and no scan has seen yet. */
  get doubt(): RootDoubt | null {
    return this.#memory.doubt;
  }

  /** What kind of share it is on; null for a disk of this machine, and while nobody knows. */
  get remote(): string | null {
    const { identity } = this.#check;
    return identity === null ? null : remoteKind(BigInt(identity.kind));
  }

  /** Another value after the folder was away or became another directory: what was opened on it before is outdated. */
  get generation(): string {
    const { device, inode } = this.#check.identity ?? { device: '', inode: '' };
    return `${this.#thaws} ${device} ${inode}`;
  }

  /**
   * The first look.
   *
   * @param devices of the known files
   * @param known path → version
   */
  async begin(devices: ReadonlySet<string>, known: KnownVersions): Promise<void> {
    const record = await this.#memory.load();
    this.#check.remember(record?.identity ?? null, devices);
    if (record?.doubt?.is === 'resumed') this.#trustNext(record.doubt.isOlder === true);
    if (record?.doubt?.is === 'missing') this.#missingBecause = whyMissing(this.#options.path, 'most');
    const verdict = await this.#look(known);
    if (verdict.isSound) this.thaw();
    else this.freeze(verdict.why);
  }

  /** Whether a scan has something to scan; if not, the folder freezes. */
  async isScannable(): Promise<boolean> {
    const verdict = await this.#look();
    if (!verdict.isSound) this.freeze(verdict.why);
    return verdict.isSound;
  }

  /** Whether files may be offered now. A recent answer is enough for the many offers of a burst. */
  async isSound(): Promise<boolean> {
    const { clock } = this.#options;
    if (this.isFrozen) return false;
    if (clock.elapsed() - this.#recent.atMs < ANSWER_VALID_MS) return this.#recent.isSound;
    this.#looking ??= this.#isSoundNow().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /**
   * Asks the disk from time to time until the work ends. A call that is never answered says nothing by itself, and a scan that waits
   * for one keeps the next scan from coming.
   */
  async watchOver<T>(work: Promise<T>): Promise<T> {
    const { clock } = this.#options;
    let isOver = false;
    let cancel = (): void => undefined;
    const askLater = (): void => {
      if (!isOver) cancel = clock.after(HUNG_AFTER_MS, () => void this.isSound().then(askLater));
    };
    askLater();
    return work.finally(() => {
      isOver = true;
      cancel();
    });
  }

  /** Why a file that is not found does not count as gone, or null. Asks the disk. */
  async whyAway(): Promise<string | null> {
    return (await this.#whyNotInPlace()) ?? this.#missingBecause;
  }

  /** Whether the folder is there, however many of its files are. Asks the disk. */
  async isInPlace(): Promise<boolean> {
    return (await this.#whyNotInPlace()) === null;
  }

  /** Most files are missing at once: nobody believes that. */
  async suspect({ before, lost, there }: Missing): Promise<void> {
    this.#missingBecause = whyMissing(this.#options.path, `${lost} of ${lost + there}`);
    this.#recent = { atMs: -Infinity, isSound: false };
    await this.#memory.save(this.#check.identity, { is: 'missing', before });
    this.report();
  }

  /** The files are back, or a person said that they are gone. */
  async believe(): Promise<void> {
    this.#missingBecause = null;
    await this.#memory.save(this.#check.identity, null);
    this.report();
  }

  /** A person says that all is as it should be: the next scan takes the folder as it is then. */
  async resume(): Promise<Resumed> {
    const { path } = this.#options;
    if (this.#awayBecause !== null && !this.#isAnother && !this.#isBehind)
      return { ok: false, why: `${path} is frozen for another reason: ${this.#awayBecause}` };
    if (!this.isFrozen) return { ok: false, why: `${path} is not frozen` };
    const what = this.#isBehind
      ? `Files of ${path} that the ledger does not know are uploaded`
      : this.#isAnother
        ? `${path} is the directory that is there now`
        : `The missing files of ${path} are gone`;
    const isOlder = this.#isBehind;
    if (this.#isAnother || isOlder) this.#trustNext(isOlder);
    await this.#memory.save(this.#check.identity, { is: 'resumed', isOlder });
    return { ok: true, what };
  }

  /** A scan could list the folder. */
  thaw(): void {
    if (this.#awayBecause !== null) this.#thaws += 1;
    this.#awayBecause = null;
    this.report();
  }

  freeze(why: string): void {
    this.#recent = { atMs: -Infinity, isSound: false };
    this.#awayBecause = why;
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

  /** @param isOlder the answer is about a ledger that is older than the folder: no other answer is one about that */
  #trustNext(isOlder: boolean): void {
    this.#check.trustNext();
    if (isOlder) this.#options.claim?.trustNext();
  }

  get #frozenBecause(): string | null {
    return this.#awayBecause ?? this.#missingBecause;
  }

  async #look(known: KnownVersions = this.#options.inventory.taken): Promise<RootVerdict> {
    if (this.#hung !== null) return noAnswer;
    const look = this.#lookAtDisk(known);
    const verdict = await unlessHung(look, HUNG_AFTER_MS);
    if (verdict !== null) return verdict;
    this.#hung = look.finally(() => {
      this.#hung = null;
      this.#options.scanSoon();
    });
    return noAnswer;
  }

  /** A folder that is there may be another dropcast's. */
  async #lookAtDisk(known: KnownVersions): Promise<RootVerdict> {
    const { claim } = this.#options;
    const before = this.#check.identity;
    const verdict = await this.#check.look(known);
    this.#isAnother = !verdict.isSound && verdict.isAnother === true;
    const claimed = verdict.isSound ? await claim?.hold(this.doubt?.is === 'older') : undefined;
    this.#isForeign = claimed?.isSound === false;
    this.#isBehind = claimed?.isSound === false && claimed.isBehind === true;
    if (this.#check.identity !== before) {
      if (claimed?.isSound === true) await this.#check.noteMark();
      await this.#memory.save(this.#check.identity);
    }
    const isAnswered = this.doubt?.is === 'resumed' && this.doubt.isOlder === true;
    const isOlder = claimed?.isSound === false && (this.#isBehind || claimed.isOlder === true);
    if (isOlder && !isAnswered) await this.#memory.save(this.#check.identity, { is: 'older' });
    if (claimed?.isSound === true && this.doubt?.is === 'older') await this.#memory.save(this.#check.identity, null);
    return claimed ?? verdict;
  }

  async #isSoundNow(): Promise<boolean> {
    const verdict = await this.#look();
    if (!verdict.isSound) this.#lose(verdict.why);
    this.#recent = { atMs: this.#options.clock.elapsed(), isSound: verdict.isSound };
    // It may have been frozen during the look.
    return verdict.isSound && !this.isFrozen;
  }

  async #whyNotInPlace(): Promise<string | null> {
    const { signal, scanSoon } = this.#options;
    if (signal.aborted) return 'it is not being watched';
    const verdict = await this.#look();
    if (verdict.isSound && this.#awayBecause === null) return null;
    // The scan checks the folder again, soon if it stays away, and reopens the watches once it is back.
    if (verdict.isSound) scanSoon();
    else this.#lose(verdict.why);
    return this.#awayBecause;
  }

  /** Found away between two scans: the next one comes soon, and so do those after it while it stays away. */
  #lose(why: string): void {
    this.freeze(why);
    this.#options.scanSoon();
  }

  #state(): RootState {
    const why = this.#frozenBecause;
    const isOffLimits = this.#isForeign || this.#hung !== null;
    if (why !== null)
      return {
        state: 'frozen',
        why,
        ...(isOffLimits && { isOffLimits }),
        ...(this.#isBehind && { isBehind: true }),
      };
    const gap = this.#options.gap();
    if (gap !== null) return { state: 'scanning', why: gap };
    const note = this.#options.note();
    return { state: 'watching', ...(note !== null && { why: note }) };
  }
}

/** @param files how many of them */
export function whyMissing(path: string, files: string): string {
  return `${files} known files are missing at once: perhaps its disk is not there. dropcast goes on once they are back; if they were removed on purpose, ${resumeAdvice(path)}`;
}

const ANSWER_VALID_MS = 500;
/** A disk that slept takes up to ten seconds to start. */
const HUNG_AFTER_MS = 15_000;
export const noAnswer: RootVerdict = {
  isSound: false,
  why: 'its file system does not answer; perhaps the server of the share is away',
};
