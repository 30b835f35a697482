import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { OlderState } from './judge.ts';
import { copyOfLedger, storedRows } from './machine/database.ts';
import type { Disk } from './machine/disk.ts';
import type { Machine } from './machine/machine.ts';
import type { Random } from './machine/random.ts';

/** Some lives have a backup of the whole state directory put back. The others are as they were without it. */
const share = 0.25;

interface Copy extends Pick<OlderState, 'known'> {
  readonly at: number;
  readonly putBack: () => void;
}

type Answer = { -readonly [Key in keyof OlderState['answers'][number]]: OlderState['answers'][number][Key] };

/** The whole state directory, ledger and receipts, becomes older at once; then an operator answers for each folder. */
export class OlderStates {
  readonly isPlanned: boolean;
  readonly #machine: Machine;
  readonly #disk: Disk;
  readonly #random: Random;
  readonly #processes: OlderState['processes'][number][] = [];
  readonly #answers: Answer[] = [];
  readonly #watched: OlderState['watched'][number][] = [];
  #copy: Copy | null = null;
  #between: Pick<OlderState, 'copiedAt' | 'known' | 'restoredAt'> | null = null;

  constructor(machine: Machine, disk: Disk, random: Random) {
    this.#machine = machine;
    this.#disk = disk;
    this.#random = random;
    this.isPlanned = random.chance(share);
  }

  get wasPutBack(): boolean {
    return this.#between !== null;
  }

  evidence(retried: OlderState['retried']): OlderState | null {
    if (this.#between === null) return null;
    return { ...this.#between, processes: this.#processes, answers: this.#answers, watched: this.#watched, retried };
  }

  /** A process has ended. */
  ended(process: OlderState['processes'][number]): void {
    this.#processes.push(process);
    // An answer given to a process that died may have been received.
    for (const answer of this.#answers) answer.until ??= this.#machine.time.elapsed;
    if (!this.isPlanned || this.#between !== null) return;
    const isNow = this.#random.chance(0.5);
    if (this.#copy !== null && isNow) this.#restore(this.#copy);
    else if (this.#hasLedger) this.#copy ??= this.#take();
  }

  /** A process that died before it had a ledger left nothing to go back to: that copy, put back, is a new installation. */
  get #hasLedger(): boolean {
    return [...this.#disk.files('/state').keys()].includes('/state/ledger.id');
  }

  /** Looks whether folders are watched again, and perhaps answers. */
  async attend(daemon: Daemon, isCalm: boolean): Promise<void> {
    if (this.#between === null) return;
    const at = this.#machine.time.elapsed;
    for (const { path, state, why } of daemon.folders.status()) {
      if (state === 'watching' || state === 'scanning') this.#watched.push({ path, at });
      if (!isOlder(why)) continue;
      this.#machine.reach('folder frozen as older');
      if (isCalm || this.#random.chance(0.1)) await this.#answer(daemon, path);
    }
  }

  async #answer({ folders }: Daemon, path: string): Promise<void> {
    const { time } = this.#machine;
    const how = this.#random.pick(['adopt', 'adopt', 'resume'] as const);
    this.#machine.log('operator', `${how} ${path}`);
    const answer: Answer = { how, path, from: time.elapsed, until: null };
    this.#answers.push(answer);
    try {
      const { ok } = await folders[how](path);
      if (ok) this.#machine.reach(`older state: ${how}`);
    } catch (error) {
      this.#machine.log('operator could not', String(error));
    }
    answer.until = time.elapsed;
  }

  #take(): Copy {
    const { elapsed } = this.#machine.time;
    const ledger = copyOfLedger(false);
    const files = [...this.#disk.files('/state')].map(([path, { data }]) => ({ path, data }));
    this.#machine.log('state directory copied');
    const rows = storedRows('file').map((row) => [String(row['video_id']), row['upload_started_at'] !== null] as const);
    const receipts = Buffer.from(files.find(({ path }) => path === '/state/receipts.jsonl')?.data ?? []).toString();
    const named = receipts.match(/\bvid_\d+\b/g) ?? [];
    // What only the receipts know counts as begun once the ledger has caught up.
    const caughtUp = named.filter((video) => !rows.some(([known]) => known === video));
    return {
      at: elapsed,
      known: [...rows.flatMap(([video, isBegun]) => (isBegun ? video : [])), ...caughtUp],
      putBack: () => {
        ledger();
        for (const { path, data } of files) this.#disk.write(this.#disk.open(path, 0o101), data, 0, true);
      },
    };
  }

  #restore({ at, known, putBack }: Copy): void {
    for (const path of this.#disk.files('/state').keys()) this.#disk.unlink(path, 'people');
    putBack();
    this.#between = { copiedAt: at, known, restoredAt: this.#machine.time.elapsed };
    this.#machine.reach('older state directory restored');
  }
}

export function isOlder(why: string | null): boolean {
  return why !== null && why.includes('`dropcast adopt ');
}
