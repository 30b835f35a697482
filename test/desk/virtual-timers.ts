import { timers } from '../reliability/simulation/machine/small-modules.ts';

/** `node:timers/promises` on the virtual clock. */
export const { setTimeout, setImmediate } = timers;
