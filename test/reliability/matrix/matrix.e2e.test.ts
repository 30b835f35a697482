import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { bugs } from '../planted/bugs.ts';
import { plant } from '../planted/plant.ts';
import { sizes } from '../sizes.ts';
import type { MatrixTools } from './cell.ts';
import { onlyCells } from './cell.ts';
import { changeTable } from './change-table.ts';
import { matrix, matrixParts } from './matrix.ts';

const { seed } = sizes.quick;

let scratch: ScratchDirectory;
let tools: MatrixTools;
beforeAll(async () => {
  scratch = await scratchDirectory();
  tools = { program: inject('program') };
});
afterAll(() => scratch[Symbol.asyncDispose]());

for (const part of matrixParts)
  describe.concurrent(
    `a sample of the matrix of ${part}: each row and each column`,
    part === 'clocks' ? needs('cc') : {},
    () => {
      let [good, all] = [0, 0];
      afterAll(() => console.info(`matrix of ${part}: ${good} of ${all} cells (seed ${seed})`));
      for (const { name, cells, play } of matrix[part].quick(seed))
        test(`${name}: nothing is lost, doubled or left behind`, async () => {
          all += cells;
          expect(await play(tools), `replay with: npm run test:reliability -- --replay '${name}'`).toEqual([]);
          good += cells;
        });
    },
  );

/** A host that continues uploads meets every change and every fault too; one protocol each. */
const resumed = [
  ['changes', 'tus'],
  ['changes', 'content-range'],
  ['network', 'tus'],
  ['network', 'content-range'],
] as const;

describe.concurrent('a sample of the matrix on hosts that continue broken uploads', () => {
  for (const [part, resumable] of resumed)
    for (const { name, play } of matrix[part].quick(seed))
      test(`${resumable} ${name}: nothing is lost, doubled or left behind`, async () => {
        const again = `replay with: npm run test:reliability -- --replay '${resumable} ${name}'`;
        expect(await play({ ...tools, resumable }), again).toEqual([]);
      });
});

test('a planted bug is caught by its cell of the matrix', async () => {
  const { edits, caughtBy } = bugs['the last part leaves without a second look at the file'];
  const program = await plant(tools.program, scratch.file('planted'), edits);
  const play = onlyCells(changeTable, { row: 'overwrite', column: 'at 10 %', kind: 'no restart' });
  const found: string[] = [];
  // The overwriter races the sender: on a busy machine the program may have all the bytes of one version.
  for (let plays = 0; plays < 6 && !found.includes(caughtBy); plays += 1)
    found.push(...(await play({ ...tools, program, patienceMs: 8_000 })).map(({ invariant }) => invariant));
  expect(found).toContain(caughtBy);
});
