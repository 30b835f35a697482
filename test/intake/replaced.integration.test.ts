import { mkdir, rename, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { openInbox } from './inbox.ts';

/** Fewer than the ten files that freeze a folder when they are missed. */
test.for(
  ['live', 'while dropcast is stopped'].flatMap((moment) =>
    ['settling', 'queued'].map((state) => [moment, state] as const),
  ),
)(
  'a lone file in a directory that is replaced %s is not lost, %s: it comes in once it is back',
  async ([moment, state]) => {
    await using inbox = await openInbox({ config: state === 'settling' ? { settleMs: 600_000 } : {} });
    await inbox.start();
    await writeFile(inbox.at('clip.mp4'), 'content');
    await inbox.rescan();
    if (state === 'queued') await inbox.settled();
    const states = async (): Promise<readonly string[]> => (await inbox.rows()).map((row) => stateOf(row));
    const before = await states();
    expect(before).toEqual(state === 'queued' ? ['queued'] : []);

    const away = `${inbox.path}-away`;
    const replace = async (): Promise<void> => {
      await rename(inbox.path, away);
      await mkdir(inbox.path);
    };
    if (moment === 'live') await replace();
    else {
      await inbox.stop();
      await replace();
      await inbox.start();
    }
    await inbox.rescan();
    // Its row stays and says what became of it; a file that settled never had one.
    expect(await states()).toEqual(state === 'queued' ? ['vanished'] : []);

    await rename(`${away}/clip.mp4`, inbox.at('clip.mp4'));
    await inbox.rescan();
    if (state === 'queued') await inbox.settled();
    expect(await states()).toEqual(before);
    expect(inbox.folders.status()[0]).toMatchObject({ state: 'watching', accounts: { seen: 1, unaccounted: 0 } });
  },
);
