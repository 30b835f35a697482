import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { openStation } from './acting-station.ts';

test('the page shows what an audit costs, runs one, and shows what it found', async () => {
  const station = await openStation();
  await using _ = station;
  await station.drop('a.mkv');
  await station.reaches('a.mkv', 'done');
  expect((await station.ask('/folders')).html).toContain('<a href="/audit">Audit</a>');
  const before = await station.ask('/audit');
  expect(before.words).toContain('There was no audit yet.');
  expect(before.words).toContain(
    'One request for each 100 videos in the list, and 1 for single videos; 1 file, 16 B of',
  );
  const { status, to } = await station.press('/audit');
  expect({ status, to }).toEqual({ status: 303, to: '/audit' });
  const { words } = await until('the audit has ended', async () => {
    const shown = await station.ask('/audit');
    return shown.words.includes('ended at') ? shown : null;
  });
  expect(words).toMatch(/May be deleted here: .* \(1\).*a\.mkv.*dropcast audit --paths/);
  expect(words).toContain('Run a full audit');
});
