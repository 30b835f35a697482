import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf } from '../../src/view/files/files-view.ts';
import { foundOf } from '../../src/view/files/show-view.ts';
import { until } from '../support/until.ts';
import { startFleet } from './running-fleet.ts';

test('files in the folder of a host that died say so, in every view of another host', async () => {
  // The service takes no records: the file gets no further than its row.
  await using fleet = await startFleet({
    meddle: (request, response) => {
      if (request.method !== 'POST') return false;
      response.writeHead(503).end();
      return true;
    },
  });
  const two = await fleet.start('two');
  await fleet.drop(join(two.inbox, 'clip.mp4'));
  await until('it is known', async () => (await two.daemon.ledger.find('clip.mp4')).length === 1);
  const { daemon } = await fleet.start('one');
  await two.die(240_000);
  await daemon.fleet?.hosts();

  const words = expect.stringMatching(/^only two can read this folder, and it was last heard 4 m( \d+ s)? ago$/);
  expect((await daemon.picture({ isFresh: true })).working).toMatchObject([
    { path: `two:${two.inbox}/clip.mp4`, why: words },
  ]);
  expect((await foundOf(daemon.ledger, daemon, 'clip.mp4')).found).toMatchObject([{ file: { why: words } }]);
  const { files } = await filesOf(daemon.ledger, daemon, { selection: {}, range: { limit: 10 } });
  expect(files).toMatchObject([{ why: words }]);
});
