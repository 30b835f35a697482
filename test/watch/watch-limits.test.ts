import { expect, test } from 'vitest';
import { WatchedDirectories, watchLimitAdvice } from '../../src/watch/kernel.ts';

const none = { watches: null, instances: null, isOutOfFiles: false };

test.for([
  [
    'the known limit and what all folders need, rounded up',
    'ENOSPC',
    20_000,
    { ...none, watches: 8_192 },
    /max_user_watches=32768`/,
  ],
  [
    'more than the limit, where little is needed',
    'ENOSPC',
    10,
    { ...none, watches: 65_536 },
    /max_user_watches=131072`/,
  ],
  ['an unreadable limit', 'ENOSPC', 1, none, /1 directory has to be watched.*max_user_watches=1048576`/],
  ['very many', 'ENOSPC', 3_000_000, none, /3,000,000 directories.*max_user_watches=4194304`/],
  ['instances', 'EMFILE', 1, { ...none, instances: 128 }, /max_user_instances=256`/],
  ['unreadable instances', 'EMFILE', 1, none, /max_user_instances=1024`/],
  ['open files', 'EMFILE', 1, { ...none, isOutOfFiles: true }, /ulimit -n 65536.*LimitNOFILE=65536/],
] as const)('the line that raises the limit is exact: %s', ([, code, directories, limits, line]) => {
  expect(watchLimitAdvice(code, directories, limits)).toMatch(line);
});

test('the directories of all folders count, those of a closed one do not', () => {
  const directories = new WatchedDirectories();
  directories.set('/a', 3);
  directories.set('/b', 4);
  directories.set('/a', 5);
  expect(directories.total).toBe(9);
  directories.delete('/b');
  expect(directories.total).toBe(5);
});
