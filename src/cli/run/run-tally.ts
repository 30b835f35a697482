import type { DropcastEvent } from '../../pipeline/events.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';

/** The files of a run in sums. Bytes are uploaded or to be uploaded. */
export interface RunTotals {
  readonly done: number;
  readonly failed: number;
  readonly held: number;
  readonly total: number;
  /** Bytes of completed uploads. */
  readonly sentBytes: number;
  readonly totalBytes: number;
}

/**
 * Counts the files of a run as they change: a frame of the progress costs the same with a hundred files and with a
 * hundred thousand. Listen first, then call `begin`: events in between are counted once.
 */
export class RunTally {
  readonly #since: number;
  readonly #active = new Map<string, Facts>();
  /** The revisions of files that had ended at the beginning: earlier events are old. */
  readonly #ended = new Map<string, number>();
  #changed = new Map<string, Facts>();
  #early: FileChange[] | null = [];
  #totals: RunTotals = { done: 0, failed: 0, held: 0, total: 0, sentBytes: 0, totalBytes: 0 };

  /**
   * @param since a file belongs to the run when it arrived or ended at or after this time (epoch milliseconds), or has
   *   not ended
   */
  constructor(since: number) {
    this.#since = since;
  }

  /** @param rows the files of the run, as the ledger has them now */
  begin(rows: readonly Facts[]): void {
    for (const facts of rows) {
      if (facts.end !== null) this.#ended.set(facts.id, facts.rev);
      this.#replace(null, facts);
    }
    const early = this.#early ?? [];
    this.#early = null;
    for (const change of early) this.#apply(change);
  }

  /** Listens to the events of the daemon. */
  note(event: DropcastEvent): void {
    if (event.type !== 'file') return;
    const { before, facts } = event;
    if (this.#early === null) this.#apply({ before, facts });
    else this.#early.push({ before, facts });
  }

  totals(): RunTotals {
    return this.#totals;
  }

  /** Files that have not ended, in the order of arrival. */
  active(): Iterable<Facts> & { readonly size: number; get(id: string): Facts | undefined } {
    const files = this.#active;
    return { size: files.size, get: (id) => files.get(id), [Symbol.iterator]: () => files.values() };
  }

  /** Files that changed since the last call, as they are now. */
  takeChanged(): readonly Facts[] {
    const changed = [...this.#changed.values()];
    this.#changed = new Map();
    return changed;
  }

  #apply({ before, facts }: FileChange): void {
    const known = this.#active.get(facts.id);
    if ((known?.rev ?? this.#ended.get(facts.id) ?? -1) >= facts.rev) return;
    // A row that had ended was counted if it belongs to the run; one that had not ended would be known.
    const counted = known ?? (before !== null && before.end !== null && this.#isOfRun(before) ? before : null);
    if (facts.end === null || this.#isOfRun(facts)) this.#replace(counted, facts);
  }

  #replace(counted: Facts | null, facts: Facts): void {
    if (counted !== null) this.#add(counted, -1);
    this.#add(facts, 1);
    if (facts.end === null) this.#active.set(facts.id, facts);
    else this.#active.delete(facts.id);
    // A write after the end of a file, such as its new place, does not change the run.
    if (facts.end === null || counted?.end !== facts.end) this.#changed.set(facts.id, facts);
  }

  #add(facts: Facts, sign: 1 | -1): void {
    const totals = this.#totals;
    const state = stateOf(facts);
    const add = (isSo: boolean, size = 1): number => (isSo ? sign * size : 0);
    const size = isSent(facts) ? facts.version.size : 0;
    this.#totals = {
      done: totals.done + add(state === 'done' || state === 'skipped'),
      failed: totals.failed + add(state === 'failed'),
      held: totals.held + add(state === 'held'),
      total: totals.total + add(state !== 'vanished' && state !== 'superseded'),
      sentBytes: totals.sentBytes + add(facts.uploadedAt !== null, size),
      totalBytes: totals.totalBytes + add(true, size),
    };
  }

  #isOfRun({ discoveredAt, endedAt }: Facts): boolean {
    return discoveredAt >= this.#since || (endedAt ?? Infinity) >= this.#since;
  }
}

interface FileChange {
  readonly before: Facts | null;
  readonly facts: Facts;
}

/** Whether this file is uploaded by dropcast. */
function isSent({ sourceUrl, end }: Facts): boolean {
  return sourceUrl === null && (end === null || end === 'done' || end === 'failed');
}
