import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { output } from './child.ts';

const filters = ['all', 'of a channel', 'in a status', 'of a channel in a status'];

export const bench: Bench = {
  about:
    "A page of 100 videos of the sandbox's list: the last of 100,000 videos against the first, and against the first of 1,000 videos. " +
    'Without an index the last would take hundreds of times as long. Always without flags: the sandbox needs the code compiler.',
  rounds: 3,
  isOnlyAsShipped: true,
  rows: {
    ...Object.fromEntries(
      filters.flatMap((name) => [
        [`${name} deep`, { what: `${name}: last page against the first`, unit: '×', most: 10 }],
        [`${name} large`, { what: `${name}: last page against the first of 1,000 videos`, unit: '×', most: 10 }],
      ]),
    ),
    walk: { what: 'page by page: the last tenth against the first', unit: '×', most: 1.5 },
  },
  round: async ({ root, plainNode }, size) => {
    const pages = join(import.meta.dirname, 'sandbox-lists/pages.ts');
    const counts = size === 'full' ? ['100000', '1000'] : ['20000', '1000'];
    return { values: JSON.parse(await output(plainNode, [pages, root, ...counts])) as Record<string, number> };
  },
};
