import type { Bench } from './bench.ts';
import { usageOf } from './child.ts';

export const bench: Bench = {
  about: 'The whole demo, as a person waits for it: sandbox, daemon and five files, from nothing to the table.',
  rounds: 3,
  rows: {
    wall: { what: '`dropcast demo`', unit: 's', most: 15 },
    cpu: { what: 'CPU of it', unit: 's' },
  },
  round: async ({ node, root }) => {
    const { wallMs, cpuMs } = await usageOf(node, [`${root}/src/main.ts`, 'demo']);
    return { values: { wall: wallMs / 1_000, cpu: cpuMs / 1_000 } };
  },
};
