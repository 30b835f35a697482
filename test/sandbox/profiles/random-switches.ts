import { openPoints, switchNames } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import type { SwitchName, Switches } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import { createRandom } from '../../reliability/kill/random.ts';

/** Of the switches so many are set otherwise than by default, on average. */
const share = 0.4;

/** Some of the switches, with values that are not the default; the same for the same seed. @param without what stays as it is */
export function randomSwitches(seed: string, without: readonly SwitchName[] = []): Partial<Switches> {
  const random = createRandom(seed);
  const chosen = switchNames.map((name) => {
    const others = openPoints[name].values.slice(1);
    const isSet = random() < share;
    const value = others[Math.floor(random() * others.length)];
    return isSet && !without.includes(name) ? [[name, value]] : [];
  });
  return Object.fromEntries(chosen.flat()) as Partial<Switches>;
}
