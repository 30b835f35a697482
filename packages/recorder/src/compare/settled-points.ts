import { defaultSwitches, switchNames } from '@dropcast/sandbox/profiles/switch-table';
import type { SwitchName, Switches } from '@dropcast/sandbox/profiles/switch-table';
import type { RecordedExchange } from '../recording.ts';
import { recognitions, type Shown } from './recognitions.ts';

/** A point that the specification leaves open, with the way the service settles it, as the exchanges show. */
export interface SettledPoint {
  /** Name of the sandbox switch. */
  readonly name: SwitchName;
  /** Values seen; more than one if the service varies. */
  readonly values: readonly {
    readonly value: string;
    /** Numbers of the exchanges that show the value. */
    readonly exchanges: readonly number[];
  }[];
}

/** Returns all points that the exchanges show, in the order of the switches. */
export function settledPoints(exchanges: readonly RecordedExchange[]): readonly SettledPoint[] {
  return switchNames.flatMap((name) => {
    const shown = recognitions[name]?.shown(exchanges) ?? [];
    return shown.length === 0 ? [] : [{ name, values: byValue(shown) }];
  });
}

/**
 * Returns the switches for a sandbox that settles the points in the same way: unambiguous values other than the
 * default.
 */
export function switchesOf(points: readonly SettledPoint[]): Partial<Switches> {
  return Object.fromEntries(
    points.flatMap(({ name, values: [first, ...others] }) =>
      first === undefined || others.length > 0 || first.value === defaultSwitches[name] ? [] : [[name, first.value]],
    ),
  );
}

function byValue(shown: readonly Shown<string>[]): SettledPoint['values'] {
  const values = new Map<string, Set<number>>();
  for (const { value, exchange } of shown) values.set(value, (values.get(value) ?? new Set()).add(exchange));
  return [...values].map(([value, exchanges]) => ({ value, exchanges: [...exchanges] }));
}
