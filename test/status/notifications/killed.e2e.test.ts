import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startStation } from '../../e2e/station.ts';
import { startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

test('a message to a slow webhook survives kill -9; it comes again, with its id, and says so', async () => {
  const received: { readonly id: string; readonly repeat: boolean; readonly event: string }[] = [];
  await using hook = await startServer((request, response) => {
    void text(request).then((body) => {
      received.push(JSON.parse(body) as (typeof received)[number]);
      // The first one is never answered.
      if (received.length > 1) response.end();
    });
  });
  // Where it is past noon whenever this runs, so that the time by which a file is expected is over.
  const ahead = 12 - new Date().getUTCHours();
  const zone = `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
  await using station = await startStation({
    isStarted: false,
    settings: { notify: [{ type: 'webhook', url: `${hook.origin}/slow` }] },
    folders: [{ expect: [{ match: '**', by: '06:00', zone }] }],
  });
  const { kill } = await station.start();
  await until('the message is on its way', () => received.length === 1);
  await kill('SIGKILL');
  await station.start();
  await until('it came again', () => received.length === 2);
  expect(received).toMatchObject([
    { event: 'missing', repeat: false },
    { event: 'missing', repeat: true, id: received[0]?.id },
  ]);
});
