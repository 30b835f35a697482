import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { ready } from '../pipeline/some-facts.ts';
import { eventually } from '../support/until.ts';
import { openInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';

const move = (to: string) => ({ afterReady: { kind: 'move', to } }) as const;

async function pathsOf(inbox: Inbox): Promise<readonly string[]> {
  return (await inbox.rows()).map((row) => `${row.path} ${stateOf(row)}`).toSorted();
}

async function write(inbox: Inbox, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(inbox.at(path)), { recursive: true });
    await writeFile(inbox.at(path), `content of ${path}`);
  }
}

// As after a purge and a new installation: nobody remembers them.
test.each([
  ['done/{date}', ['done/2026-01-02/a.mp4', 'done/2026-01-02/a.url', 'done/old/b.mp4'], ['news/done.mp4', 'new.mp4']],
  ['{dir}/done', ['done/a.mp4', 'news/tv/done/a.mp4'], ['news/tv/new.mp4', 'new.mp4']],
  ['{date}', ['2026-01-02/a.mp4'], ['2026/a.mp4', 'new.mp4']],
])('with an empty ledger, files that were moved to %s are no new files', async (template, moved, fresh) => {
  await using inbox = await openInbox({ config: { ...move(template), watch: 'auto' } });
  await write(inbox, ...moved, ...fresh);
  await inbox.start();
  await inbox.settled();
  expect(await pathsOf(inbox)).toEqual(fresh.map((path) => `${path} queued`).toSorted());
  // Nor later, when dropcast hears of them.
  await write(inbox, ...moved);
  await write(inbox, 'last.mp4');
  await eventually('the last one is taken in', async () => expect(await pathsOf(inbox)).toContain('last.mp4 queued'));
  await inbox.settled();
  expect(await pathsOf(inbox)).toHaveLength(fresh.length + 1);
});

describe('a directory that finished files are moved to', () => {
  test('counts as one ignored path, with what is in it', async () => {
    await using inbox = await openInbox({ config: move('done/{date}') });
    await write(inbox, 'new.mp4', 'done/2026-01-02/a.mp4', 'done/2026-01-02/b.mp4');
    await inbox.start();
    await inbox.settled();
    expect(inbox.folders.status()[0]?.paths).toEqual({ seen: 2, settling: 0, offered: 1, ignored: 1, refused: 0 });
  });

  test('is left alone also where the configuration has another one now', async () => {
    await using inbox = await openInbox({ config: move('new/{date}') });
    await write(inbox, 'a.mp4');
    await inbox.start();
    await inbox.settled();
    await inbox.stop();
    const [row] = await inbox.rows();
    const afterReady = { kind: 'move', to: 'old/{date}' } as const;
    if (row !== undefined) await inbox.ledger.save({ ...row, ...ready, end: 'done', afterReady, disposal: 'moved' });
    await write(inbox, 'old/2026-01-02/b.mp4', 'new/c.mp4', 'd.mp4');
    await inbox.start();
    await inbox.settled();
    expect(await pathsOf(inbox)).toEqual(['a.mp4 done', 'd.mp4 queued']);
    expect(inbox.log.lines).toContainEqual(
      expect.objectContaining({ fields: { folder: inbox.path, move: 'old/{date}' } }),
    );
  });

  test('gives back what is moved out of it, which is still done', async () => {
    await using inbox = await openInbox({ config: move('done') });
    await write(inbox, 'a.mp4');
    await inbox.start();
    await inbox.settled();
    await mkdir(inbox.at('done'));
    await rename(inbox.at('a.mp4'), inbox.at('done/a.mp4'));
    const [row] = await inbox.rows();
    if (row === undefined) expect.unreachable();
    await inbox.ledger.save({
      ...row,
      ...ready,
      path: 'done/a.mp4',
      end: 'done',
      disposal: 'moved',
      sha256: sha256OfA,
    });
    await inbox.restart();
    await inbox.settled();
    await rename(inbox.at('done/a.mp4'), inbox.at('b.mp4'));
    await inbox.settled();
    expect(await pathsOf(inbox)).toEqual(['b.mp4 done']);
  });
});

/** Of `content of a.mp4`. */
const sha256OfA = '7c58b5a71b4d4a7d5fd1b10f4611348f05e4a459d5c607797d1211b6dc42d3a5';
