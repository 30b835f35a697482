import { expect, test } from 'vitest';
import { accountsLine } from '../../../src/cli/output/picture-lines.ts';
import { sumOfAccounts } from '../../../src/watch/inventory.ts';

const none = sumOfAccounts([]);

test('the line of the accounts names every place that has paths, and its sum', () => {
  const known = { done: 80, queued: 10 };
  const some = { seen: 100, settling: 2, comparing: 1, known, sidecars: 4, ignored: 2, refused: 1, unaccounted: 0 };
  expect(accountsLine(some)).toBe(
    '100 paths = 2 settling + 1 compared + 90 known (80 done, 10 queued) + 4 sidecars + 2 ignored + 1 refused',
  );
  expect(accountsLine(sumOfAccounts([some, some]))).toMatch(
    /^200 paths = 4 settling .* 180 known \(160 done, 20 queued\)/,
  );
});

test('files are counted by their stages, those that wait for a retry apart', () => {
  const known = { done: 3, queued: 1, 'awaiting upload': 2, retrying: 4, 'awaiting publish': 1, creating: 0 };
  expect(accountsLine({ ...none, seen: 11, known })).toBe(
    '11 paths = 11 known (3 done, 3 queued, 4 waiting for a retry, 1 publishing)',
  );
});

test('it says nothing of empty folders, and tells a fault', () => {
  expect(accountsLine(none)).toBeNull();
  expect(accountsLine({ ...none, seen: 1, unaccounted: 1 })).toBe(
    '1 path = 1 in no state: a bug in dropcast, please report it',
  );
});
