import type { Logger } from '../log/logger.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { unlessHung } from '../unless-hung.ts';
import type { MonotonicClock } from './clock.ts';
import { remoteKind } from './kernel.ts';
import type { KnownFiles, Resumed, RootDoubt, RootRecord, RootState, RootStore } from './ports.ts';
import { MOST_FILES_ASKED, resumeAdvice, RootCheck } from './root-check.ts';
import type { KnownVersions, RootVerdict } from './root-check.ts';
import { whyBehind } from './root-claim.ts';
import type { RootClaim } from './root-claim.ts';
import { isAhead, markOf, readMark } from './root-mark.ts';

interface RootOptions {
  /** Absolute path. */
  readonly path: string;
  readonly clock: MonotonicClock;
  readonly inventory: { readonly taken: KnownVersions };
  /** Keeps other dropcasts away; null if the folder is not claimed. */
  readonly claim: Pick<RootClaim, 'hold' | 'mark' | 'trustNext'> | null;
  readonly roots: RootStore;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Returns why events are missing, or null. */
  readonly gap: () => string | null;
  /** Returns a remark about the events, or null. */
  readonly note: () => string | null;
  /** Called on every state change, and once at the start. Must not throw. */
  readonly changed: (state: RootState) => void;
  readonly scanSoon: () => void;
}

interface Missing {
  /** Paths that were recently given up and are still missing. */
  readonly before: readonly string[];
  /** Number of missing files, including those given up before. */
  readonly lost: number;
  /** Number of known files that are still there. */
  readonly there: number;
}

/**
 * Tracks whether the folder can be trusted. The folder is frozen while it is unavailable or while most of its files are
 * missing at once, because a missing file proves nothing then. Only a scan that could list the folder thaws it.
 */
export class Root {
  readonly #options: RootOptions;
  readonly #check: RootCheck;
  #awayBecause: string | null = null;
  #missingBecause: string | null = null;
  /** Number of missing files; null if an earlier run counted them. */
  #lost: number | null = null;
  #isForeign = false;
  #isAnother = false;
  /** Whether the ledger is older than the folder's mark. */
  #isBehind = false;
  #doubt: RootDoubt | null = null;
  /** The stored record, as JSON. */
  #saved = '';
  #thaws = 0;
  #lastReport: string | null = null;
  #recent = { atMs: -Infinity, isSound: false };
  /** A hung check of the disk, or null. Each one blocks a thread until it completes. */
  #hung: Promise<unknown> | null = null;
  /** The check in progress, shared by all files that ask while it runs: 256 files may settle at the same time. */
  #looking: Promise<boolean> | null = null;

  constructor(options: RootOptions) {
    const { path, claim } = options;
    this.#options = options;
    this.#check = new RootCheck({ path, mark: async () => (await claim?.mark()) ?? null });
  }

  get isFrozen(): boolean {
    return this.#frozenBecause !== null;
  }

  /** The question that only an operator can answer, or the operator's answer until a scan has applied it. */
  get doubt(): RootDoubt | null {
    return this.#doubt;
  }

  /** The kind of share that the folder is on; null if it is on a local disk or not known yet. */
  get remote(): string | null {
    const { identity } = this.#check;
    return identity === null ? null : remoteKind(BigInt(identity.kind));
  }

  /** Changes after the folder was unavailable or replaced. Watches opened before that are outdated. */
  get generation(): string {
    const { device, inode } = this.#check.identity ?? { device: '', inode: '' };
    return `${this.#thaws} ${device} ${inode}`;
  }

  /**
   * Checks the folder for the first time.
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

  /** Whether the folder can be scanned. Freezes it if not. */
  async isScannable(): Promise<boolean> {
    const verdict = await this.#look();
    if (!verdict.isSound) this.freeze(verdict.why);
    return verdict.isSound;
  }

  /** Whether files may be offered now. During a burst of offers, a recent answer is reused. */
  async isSound(): Promise<boolean> {
    const { clock } = this.#options;
    if (this.isFrozen) return false;
    if (clock.elapsed() - this.#recent.atMs < ANSWER_VALID_MS) return this.#recent.isSound;
    this.#looking ??= this.#isSoundNow().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** Checks the disk from time to time until the work finishes, because a hung call reports nothing. */
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

  /** Returns why a file that was not found does not count as gone, or null. Checks the disk. */
  async whyAway(): Promise<string | null> {
    return (await this.#whyNotInPlace()) ?? this.#missingBecause;
  }

  /** Whether the folder is there, regardless of how many of its files are. Checks the disk. */
  async isInPlace(): Promise<boolean> {
    return (await this.#whyNotInPlace()) === null;
  }

  /** Freezes the folder because most of its files are missing at once. */
  async suspect({ before, lost, there }: Missing): Promise<void> {
    this.#lost = lost;
    this.#missingBecause = whyMissing(this.#options.path, `${lost} of ${lost + there}`);
    this.#recent = { atMs: -Infinity, isSound: false };
    await this.#save({ is: 'missing', before });
    this.report();
  }

  /** Ends the freeze: the files are back, or an operator confirmed that they are gone. */
  async believe(): Promise<void> {
    this.#missingBecause = null;
    await this.#save(null);
    this.report();
  }

  /** Records that an operator confirmed the current state. The next scan accepts the folder as it is. */
  async resume(): Promise<Resumed> {
    const { path } = this.#options;
    if (this.#awayBecause !== null && !this.#isAnother && !this.#isBehind)
      return { ok: false, why: `${path} is frozen for another reason: ${this.#awayBecause}` };
    if (!this.isFrozen) return { ok: false, why: `${path} is not frozen` };
    const what = this.#claim();
    const isOlder = this.#isBehind;
    if (this.#isAnother || isOlder) this.#trustNext(isOlder);
    await this.#save({ is: 'resumed', isOlder });
    return { ok: true, what };
  }

  /** Returns what an operator states by resuming the folder. */
  #claim(): string {
    const { path } = this.#options;
    if (this.#isBehind) return `Files of ${path} that the ledger does not know are uploaded`;
    if (this.#isAnother) return `${path} is the directory that is there now`;
    return `The ${this.#lost === null ? '' : `${this.#lost} `}missing files of ${path} are gone`;
  }

  /** Ends the freeze of a folder that a scan could list. */
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

  report(): void {
    const state = this.#state();
    const text = JSON.stringify(state);
    if (text === this.#lastReport || this.#options.signal.aborted) return;
    this.#lastReport = text;
    this.#options.changed(state);
  }

  /** @param isOlder whether the operator's answer was about a ledger older than the folder */
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

  /** Checks the folder and then its owner, because a folder that is there may belong to another dropcast. */
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
    // The folder may have been frozen during the check.
    return verdict.isSound && !this.isFrozen;
  }

  async #whyNotInPlace(): Promise<string | null> {
    const { signal, scanSoon } = this.#options;
    if (signal.aborted) return 'it is not being watched';
    const verdict = await this.#look();
    if (verdict.isSound && this.#awayBecause === null) return null;
    // The scan checks the folder again and reopens the watches once it is back. While the folder is unavailable, scans
    // are frequent.
    if (verdict.isSound) scanSoon();
    else this.#lose(verdict.why);
    return this.#awayBecause;
  }

  /** Freezes a folder that became unavailable between scans. Scans are frequent until it is back. */
  #lose(why: string): void {
    this.freeze(why);
    this.#options.scanSoon();
  }

  /** Saves the record if it has changed. If that fails, the folder stays in use, and the next change tries again. */
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
    const isQuestion = this.#awayBecause === null || this.#isAnother || this.#isBehind;
    if (why !== null)
      return {
        state: 'frozen',
        why,
        ...(isOffLimits && { isOffLimits }),
        ...(this.#isBehind && { isBehind: true }),
        ...(isQuestion && { claim: this.#claim() }),
      };
    const gap = this.#options.gap();
    if (gap !== null) return { state: 'scanning', why: gap };
    const note = this.#options.note();
    return { state: 'watching', ...(note !== null && { why: note }) };
  }
}

/** @param files number or proportion of files, in words */
function whyMissing(path: string, files: string): string {
  return `${files} known files are missing at once: its disk may not be mounted. dropcast resumes once they are back; if they were removed on purpose, ${resumeAdvice(path)}`;
}

const ANSWER_VALID_MS = 500;
/** Time limit for a check. A sleeping disk takes up to ten seconds to spin up. */
const HUNG_AFTER_MS = 15_000;
const noAnswer: RootVerdict = {
  isSound: false,
  why: 'its file system does not answer; the server of the share may be down',
};

/** Parses a stored record. Returns null if it is damaged. */
export function recordOf(saved: unknown): RootRecord | null {
  const record = saved as Partial<RootRecord> | null;
  if (record === null || typeof record !== 'object' || record.identity === undefined) return null;
  const { identity, doubt = null } = record;
  const texts =
    identity === null ? [] : [identity.device, identity.inode, identity.born, identity.kind, identity.mount];
  return texts.every((text) => typeof text === 'string') ? { identity, doubt } : null;
}

/** The ledger of a daemon that is not running. */
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

/** Returns why a watcher would freeze a folder at its first check, or null. Writes nothing. */
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
