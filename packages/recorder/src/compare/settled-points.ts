import { defaultSwitches, switchNames } from '@dropcast/sandbox/profiles/switch-table';
import type { SwitchName, Switches } from '@dropcast/sandbox/profiles/switch-table';
import type { RecordedExchange } from '../recording.ts';
import { recognitions, type Shown } from './recognitions.ts';

/** How a service settles a point that the specification leaves open, as far as the exchanges show it. */
export interface SettledPoint {
  /** Of the switch that settles it in the sandbox. */
  readonly name: SwitchName;
  /** What was seen: more than one value where the service does not always do the same. */
  readonly values: readonly {
    readonly value: string;
    /** Numbers of the exchanges that show it. */
    readonly exchanges: readonly number[];
  }[];
}

/** Every point that the exchanges show, in the order of the switches. */
export function settledPoints(exchanges: readonly RecordedExchange[]): readonly SettledPoint[] {
  return switchNames.flatMap((name) => {
    const shown = recognitions[name]?.shown(exchanges) ?? [];
    return shown.length === 0 ? [] : [{ name, values: byValue(shown) }];
  });
}

/** What makes the sandbox settle them in the same way: of those with one value what is not the default. */
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
