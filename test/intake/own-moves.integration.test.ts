import { writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AfterReady } from '../../src/config/config.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { openInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';

/** What happens after the disk was changed for a file and before its row says so. */
type Gap = 'nothing' | 'scan' | 'two scans' | 'crash';

const gaps = fc.constantFrom<Gap>('nothing', 'scan', 'scan', 'scan', 'two scans', 'crash');
const actions = fc.constantFrom<AfterReady>({ kind: 'move', to: 'done' }, { kind: 'delete' });

async function drop(inbox: Inbox, names: readonly string[]): Promise<void> {
  for (const name of names) await writeFile(inbox.at(name), `content of ${name}`);
}

function state(inbox: Inbox): string | undefined {
  return inbox.folders.status()[0]?.state;
}

/** Puts all finished files away. A crash ends the round before the row is written, and the next start continues. */
async function putAllAway(inbox: Inbox, moments: readonly Gap[]): Promise<void> {
  const left = [...moments];
  for (let isOver = false; !isOver;) {
    isOver = true;
    await inbox
      .putAway(async () => {
        const gap = left.shift() ?? 'nothing';
        if (gap === 'scan' || gap === 'two scans') await inbox.rescan();
        if (gap === 'two scans') await inbox.rescan();
        if (gap === 'crash') throw new Error('crash');
      })
      .catch((error: unknown) => {
        if (!(error instanceof Error) || error.message !== 'crash') throw error;
        isOver = false;
      });
    if (!isOver) await inbox.restart();
  }
}

test('whenever dropcast moves or deletes its files, scans and starts again, the folder never freezes', async () => {
  await fc.assert(
    fc.asyncProperty(actions, fc.array(gaps, { minLength: 20, maxLength: 26 }), async (afterReady, moments) => {
      await using inbox = await openInbox({ config: { afterReady } });
      const names = moments.map((_, n) => `f${n}.mp4`);
      await drop(inbox, names);
      await inbox.start();
      await inbox.settled();
      await inbox.finishAll();
      await putAllAway(inbox, moments);
      expect(state(inbox)).toBe('watching');
      // A file that comes after them is taken in.
      await drop(inbox, ['later.mp4']);
      await inbox.settled();
      expect((await inbox.rows()).map((row) => stateOf(row)).toSorted()).toEqual([
        ...names.map(() => 'done'),
        'queued',
      ]);
    }),
    { numRuns: 5 },
  );
}, 60_000);
