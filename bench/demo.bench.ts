import type { Bench } from './bench.ts';
import { usageOf } from './child.ts';

export const bench: Bench = {
  about:
    'The whole demo, as a person waits for it: sandbox, daemon and five files, from nothing to the table. Always without flags: the sandbox needs the code compiler.',
  rounds: 3,
  isOnlyAsShipped: true,
  rows: {
    wall: { what: '`dropcast demo`', unit: 's', most: 15 },
    cpu: { what: 'CPU of it', unit: 's' },
  },
  round: async ({ plainNode, program }) => {
    const { wallMs, cpuMs } = await usageOf(plainNode, [program, 'demo']);
    return { values: { wall: wallMs / 1_000, cpu: cpuMs / 1_000 } };
  },
};
