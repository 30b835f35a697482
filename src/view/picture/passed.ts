import { stateOf } from '../../pipeline/file/facts.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';
import type { Clock } from '../../pipeline/file/ports.ts';

/** Counts how many files entered each state within the last hour. */
export interface Passed {
  told(event: DropcastEvent): void;
  /** Adds history from before listening started. */
  before(lines: readonly Line[]): void;
  of(state: string): number;
}

/** A line of a file's history. `at`: epoch milliseconds. */
interface Line {
  readonly at: number;
  readonly state: string;
}

const minuteMs = 60_000;

/** Keeps counts per minute, in memory. */
export function createPassed(clock: Pick<Clock, 'now'>): Passed {
  const minutes = new Map<number, Map<string, number>>();
  const note = (at: number, state: string): void => {
    const minute = Math.floor(at / minuteMs);
    const counts = minutes.get(minute) ?? new Map<string, number>();
    counts.set(state, (counts.get(state) ?? 0) + 1);
    minutes.set(minute, counts);
  };
  const step = (before: string | null, { at, state }: Line): void => {
    if (before === state) return;
    // A file without feeds skips the stage before `done`, but still counts as having passed it.
    if (state === 'done' && before === 'processing') note(at, 'awaiting publish');
    note(at, state);
  };
  const oldest = (): number => Math.floor(clock.now() / minuteMs) - 60;
  return {
    told: (event) => {
      if (event.type === 'file')
        step(event.before && stateOf(event.before), { at: clock.now(), state: stateOf(event.facts) });
      else if (event.type === 'elsewhere')
        event.passed.forEach((line, n) => step(event.passed[n - 1]?.state ?? event.from, line));
      else return;
      for (const minute of minutes.keys()) if (minute <= oldest()) minutes.delete(minute);
    },
    before: (lines) => {
      for (const { at, state } of lines) note(at, state);
    },
    of: (state) => {
      const from = oldest();
      let files = 0;
      for (const [minute, counts] of minutes) if (minute > from) files += counts.get(state) ?? 0;
      return files;
    },
  };
}
