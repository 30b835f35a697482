import type { DropcastEvent } from '../../pipeline/events.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';

/** Totals for the files of a run. Byte counts cover only files that dropcast uploads. */
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
 * Counts the files of a run as they change, so that drawing a progress frame costs the same for a hundred files as for
 * a hundred thousand. Listen first, then call `begin`; events in between are counted once.
 */
export class RunTally {
  readonly #since: number;
  readonly #active = new Map<string, Facts>();
  /** Revisions of files that were finished when the run began. Events of the same or an earlier revision are old. */
  readonly #ended = new Map<string, number>();
  #changed = new Map<string, Facts>();
  #early: FileChange[] | null = [];
  #totals: RunTotals = { done: 0, failed: 0, held: 0, total: 0, sentBytes: 0, totalBytes: 0 };

  /**
   * @param since start of the run (epoch milliseconds); a file belongs to it if it arrived or finished at or after this
   *   time, or is not finished
   */
  constructor(since: number) {
    this.#since = since;
  }

  /** @param rows the run's files, as they are in the ledger now */
  begin(rows: readonly Facts[]): void {
    for (const facts of rows) {
      if (facts.end !== null) this.#ended.set(facts.id, facts.rev);
      this.#replace(null, facts);
    }
    const early = this.#early ?? [];
    this.#early = null;
    for (const change of early) this.#apply(change);
  }

  /** Handles an event from the daemon. */
  note(event: DropcastEvent): void {
    if (event.type !== 'file') return;
    const { before, facts } = event;
    if (this.#early === null) this.#apply({ before, facts });
    else this.#early.push({ before, facts });
  }

  totals(): RunTotals {
    return this.#totals;
  }

  /** Files that are not finished by id, in order of arrival. */
  active(): ReadonlyMap<string, Facts> {
    return this.#active;
  }

  /** Returns the files that changed since the last call, in their current state. */
  takeChanged(): readonly Facts[] {
    const changed = [...this.#changed.values()];
    this.#changed = new Map();
    return changed;
  }

  #apply({ before, facts }: FileChange): void {
    const known = this.#active.get(facts.id);
    if ((known?.rev ?? this.#ended.get(facts.id) ?? -1) >= facts.rev) return;
    // A finished row was already counted if it belongs to the run; an unfinished one would be known.
    const counted = known ?? (before !== null && before.end !== null && this.#isOfRun(before) ? before : null);
    if (facts.end === null || this.#isOfRun(facts)) this.#replace(counted, facts);
  }

  #replace(counted: Facts | null, facts: Facts): void {
    if (counted !== null) this.#add(counted, -1);
    this.#add(facts, 1);
    if (facts.end === null) this.#active.set(facts.id, facts);
    else this.#active.delete(facts.id);
    // A later write to a finished file, such as its new path, does not change the run.
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

/** Whether dropcast uploads this file's bytes. */
function isSent({ sourceUrl, end }: Facts): boolean {
  return sourceUrl === null && (end === null || end === 'done' || end === 'failed');
}
