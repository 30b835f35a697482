import { expect, test } from 'vitest';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { filesOf } from '../../src/view/files/files-view.ts';
import type { FilesLedger } from '../../src/view/files/files-view.ts';

test('files that settle count in their folder too: the folders of `ls --counts` add up to the total', async () => {
  const facets = {
    total: 5,
    states: [{ value: 'done', files: 5 }],
    stages: [{ value: 'done', files: 5 }],
    folders: [
      { value: '/srv/a', files: 4 },
      { value: '/srv/b', files: 1 },
    ],
    channels: [],
    feeds: [],
    causes: [],
  };
  const ledger = {
    selection: { facets: () => Promise.resolve(facets), page: () => Promise.resolve({ files: [] }) },
  } as unknown as FilesLedger;
  const settling = (folder: string, path: string) => ({ folder, path, size: 1, why: 'it grows' });
  const daemon = {
    rows: { held: () => [] },
    folders: {
      settling: () => [
        settling('/srv/b', '1'),
        settling('/srv/b', '2'),
        settling('/srv/b', '3'),
        settling('/srv/c', '1'),
        settling('/srv/b', '4'),
      ],
    },
  } as unknown as Daemon;
  const { counts } = await filesOf(ledger, daemon, { selection: {}, range: { limit: 0 }, isCounted: true });
  expect(counts?.total).toBe(10);
  expect(counts?.folders).toEqual([
    { value: '/srv/b', files: 5 },
    { value: '/srv/a', files: 4 },
    { value: '/srv/c', files: 1 },
  ]);
});
