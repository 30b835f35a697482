import type { Logger } from '../log/logger.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { unlessHung } from '../unless-hung.ts';
import type { MonotonicClock } from './clock.ts';
import { remoteKind } from './mount-points.ts';
import type { KnownFiles, Resumed, RootDoubt, RootRecord, RootState, RootStore } from './ports.ts';
import { MOST_FILES_ASKED, resumeAdvice, RootCheck } from './root-check.ts';
import type { KnownVersions, RootVerdict } from './root-check.ts';
import { whyBehind } from './root-claim.ts';
import type { RootClaim } from './root-claim.ts';
import { isAhead, markOf, readMark } from './root-mark.ts';

export interface RootOptions {
  /** Absolute. */
  readonly path: string;
  readonly clock: MonotonicClock;
  readonly inventory: { readonly taken: KnownVersions };
  /** Keeps other dropcasts off; null: the folder is not claimed. */
  readonly claim: Pick<RootClaim, 'hold' | 'mark' | 'trustNext'> | null;
  /** The identity of the folder, which outlives the process. */
  readonly roots: RootStore;
  readonly logger: Logger;
  /** Once it fires, nothing is reported. */
  readonly signal: AbortSignal;
  /** Why events are missing, or null. */
  readonly gap: () => string | null;
  /** Further facts about events, or null. */
  readonly note: () => string | null;
  /** Called on every change, and once at the beginning. Must not throw. */
  readonly changed: (state: RootState) => void;
  readonly scanSoon: () => void;
}

export interface Missing {
  /** Paths that were recently given up and are still missing. */
  readonly before: readonly string[];
  /** How many files are missing, including those given up before. */
  readonly lost: number;
  /** How many known files are still there. */
  readonly there: number;
}

/**
 * Whether the folder can be trusted. The folder freezes while it is away, or while most of its files are missing at
 * once. A missing file proves nothing then. Only a scan that could list the folder thaws it.
 */
export class Root {
  readonly #options: RootOptions;
  readonly #check: RootCheck;
  #awayBecause: string | null = null;
  #missingBecause: string | null = null;
  #isForeign = false;
  #isAnother = false;
  /** The ledger is older than the mark of the folder. */
  #isBehind = false;
  #doubt: RootDoubt | null = null;
  /** The record that the store has, as JSON. */
  #saved = '';
  #thaws = 0;
  #lastReport: string | null = null;
  #recent = { atMs: -Infinity, isSound: false };
  /** A look that has not been answered for long; null: none. Each one blocks a thread until it is answered. */
  #hung: Promise<unknown> | null = null;
  /** One look for all files that ask at the same moment: 256 files settle at once. */
  #looking: Promise<boolean> | null = null;

  constructor(options: RootOptions) {
    const { path, claim } = options;
    this.#options = options;
    this.#check = new RootCheck({ path, mark: async () => (await claim?.mark()) ?? null });
  }

  get isFrozen(): boolean {
    return this.#frozenBecause !== null;
  }

  /** The question that only an operator can answer, or an answer that no scan has seen yet. */
  get doubt(): RootDoubt | null {
    return this.#doubt;
  }

  /** The kind of share that the folder is on; null: a local disk, or not known yet. */
  get remote(): string | null {
    const { identity } = this.#check;
    return identity === null ? null : remoteKind(BigInt(identity.kind));
  }

  /** Changes when the folder was away or became another directory: watches that were opened before are outdated. */
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
    const { path, roots } = this.#options;
    const record = recordOf(await roots.load(path));
    this.#saved = JSON.stringify(record);
    this.#doubt = record?.doubt ?? null;
    this.#check.remember(record?.identity ?? null, devices);
    if (record?.doubt?.is === 'resumed') this.#trustNext(record.doubt.isOlder === true);
    if (record?.doubt?.is === 'missing') this.#missingBecause = whyMissing(path, 'most');
    const verdict = await this.#look(known);
    if (verdict.isSound) this.thaw();
    else this.freeze(verdict.why);
  }

  /** Whether a scan is possible. If not, the folder freezes. */
  async isScannable(): Promise<boolean> {
    const verdict = await this.#look();
    if (!verdict.isSound) this.freeze(verdict.why);
    return verdict.isSound;
  }

  /** Whether files may be offered now. A recent answer is good enough for a burst of offers. */
  async isSound(): Promise<boolean> {
    const { clock } = this.#options;
    if (this.isFrozen) return false;
    if (clock.elapsed() - this.#recent.atMs < ANSWER_VALID_MS) return this.#recent.isSound;
    this.#looking ??= this.#isSoundNow().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** Checks the disk from time to time until the work ends: a call that hangs reports nothing. */
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

  /** Why a file that was not found does not count as gone, or null. Checks the disk. */
  async whyAway(): Promise<string | null> {
    return (await this.#whyNotInPlace()) ?? this.#missingBecause;
  }

  /** Whether the folder is there, however many of its files are. Checks the disk. */
  async isInPlace(): Promise<boolean> {
    return (await this.#whyNotInPlace()) === null;
  }

  /** Most files are missing at once. The folder freezes. */
  async suspect({ before, lost, there }: Missing): Promise<void> {
    this.#missingBecause = whyMissing(this.#options.path, `${lost} of ${lost + there}`);
    this.#recent = { atMs: -Infinity, isSound: false };
    await this.#save({ is: 'missing', before });
    this.report();
  }

  /** The files are back, or an operator said that they are gone. */
  async believe(): Promise<void> {
    this.#missingBecause = null;
    await this.#save(null);
    this.report();
  }

  /** An operator says that all is as it should be: the next scan takes the folder as it finds it. */
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
    await this.#save({ is: 'resumed', isOlder });
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

  /** @param isOlder the answer concerns a ledger that is older than the folder; no other answer does */
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

  /** A folder that is there may still belong to another dropcast. */
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
      await this.#save();
    }
    const isAnswered = this.doubt?.is === 'resumed' && this.doubt.isOlder === true;
    const isOlder = claimed?.isSound === false && (this.#isBehind || claimed.isOlder === true);
    if (isOlder && !isAnswered) await this.#save({ is: 'older' });
    if (claimed?.isSound === true && this.doubt?.is === 'older') await this.#save(null);
    return claimed ?? verdict;
  }

  async #isSoundNow(): Promise<boolean> {
    const verdict = await this.#look();
    if (!verdict.isSound) this.#lose(verdict.why);
    this.#recent = { atMs: this.#options.clock.elapsed(), isSound: verdict.isSound };
    // The folder may have frozen during the look.
    return verdict.isSound && !this.isFrozen;
  }

  async #whyNotInPlace(): Promise<string | null> {
    const { signal, scanSoon } = this.#options;
    if (signal.aborted) return 'it is not being watched';
    const verdict = await this.#look();
    if (verdict.isSound && this.#awayBecause === null) return null;
    // The scan checks the folder again, and soon again while it stays away. It reopens the watches once the folder is
    // back.
    if (verdict.isSound) scanSoon();
    else this.#lose(verdict.why);
    return this.#awayBecause;
  }

  /** The folder was found away between two scans: the next one comes soon, and again while it stays away. */
  #lose(why: string): void {
    this.freeze(why);
    this.#options.scanSoon();
  }

  /** Writes the record if it changed. If the disk refuses, the folder continues, and the next change tries again. */
  async #save(doubt: RootDoubt | null = this.#doubt): Promise<void> {
    const { path, roots, logger } = this.#options;
    this.#doubt = doubt;
    const record = { identity: this.#check.identity, doubt };
    const text = JSON.stringify(record);
    if (text === this.#saved) return;
    try {
      await roots.save(path, record);
      this.#saved = text;
    } catch (error) {
      logger.warn('Cannot save the identity of the folder', { folder: path, err: error });
    }
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

/** @param files how many, in words */
function whyMissing(path: string, files: string): string {
  return `${files} known files are missing at once: its disk may not be mounted. dropcast resumes once they are back; if they were removed on purpose, ${resumeAdvice(path)}`;
}

const ANSWER_VALID_MS = 500;
/** A disk that slept takes up to ten seconds to start. */
const HUNG_AFTER_MS = 15_000;
const noAnswer: RootVerdict = {
  isSound: false,
  why: 'its file system does not answer; the server of the share may be down',
};

/** A damaged record counts as none. */
export function recordOf(saved: unknown): RootRecord | null {
  const record = saved as Partial<RootRecord> | null;
  if (record === null || typeof record !== 'object' || record.identity === undefined) return null;
  const { identity, doubt = null } = record;
  const texts =
    identity === null ? [] : [identity.device, identity.inode, identity.born, identity.kind, identity.mount];
  return texts.every((text) => typeof text === 'string') ? { identity, doubt } : null;
}

/** The ledger of a daemon that does not run. */
interface IdleLedger {
  readonly id: string;
  readonly roots: { load(folder: string): Promise<unknown> };
  readonly counter: { load(): Promise<number> };
}

/** Whether a ledger is older than its mark in a folder, or was when a watcher last looked. */
export async function isLedgerBehind(path: string, { roots, id, counter }: IdleLedger): Promise<boolean> {
  if (recordOf(await roots.load(path))?.doubt?.is === 'older') return true;
  const found = await readMark(path);
  return found.is === 'mark' && found.owner.ledger === id && isAhead(found.owner.counter ?? 0, await counter.load());
}

/** Why a watcher would freeze a folder at its first look, or null. Writes nothing. */
export async function whyFrozenAtStart(path: string, ledger: IdleLedger & KnownFiles): Promise<string | null> {
  const { identity = null, doubt = null } = recordOf(await ledger.roots.load(path)) ?? {};
  const devices = new Set<string>();
  const files = new Map<string, FileVersion>();
  await ledger.known(path, ({ path: name, version }) => {
    devices.add(version.dev);
    if (files.size < MOST_FILES_ASKED) files.set(name, version);
  });
  const check = new RootCheck({ path, mark: () => markOf(path, ledger.id) });
  check.remember(identity, devices);
  if (doubt?.is === 'resumed') check.trustNext();
  const isAnswered = doubt?.is === 'resumed' && doubt.isOlder === true;
  const verdict = (await unlessHung(check.look(files))) ?? noAnswer;
  if (!verdict.isSound) return verdict.why;
  if (!isAnswered && (await isLedgerBehind(path, ledger))) return whyBehind(path);
  return doubt?.is === 'missing' ? whyMissing(path, 'most') : null;
}
