import { readFileSync } from 'node:fs';

/** A row of the walk in docs/design.md. */
export interface Hop {
  readonly number: number;
  readonly file: string;
  readonly function: string;
}

const design = readFileSync(new URL('../../docs/design.md', import.meta.url), 'utf8');

/** The hops of the table below a heading: `| 1 | `src/main.ts` | `main` | … |`. @param page the text of docs/design.md */
export function hopsBelow(heading: string, page = design): readonly Hop[] {
  const [, below = ''] = page.split(`\n### ${heading}\n`);
  const [section = ''] = below.split(/^##/m);
  return [...section.matchAll(/^\| (\d+) \| `([^`]+)` \| `([^`]+)` \| .+ \|$/gm)].map(
    ([, number = '', file = '', name = '']) => ({ number: Number(number), file, function: name }),
  );
}
