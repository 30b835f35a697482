import { expect, test } from 'vitest';
import { withoutOutage } from '../../src/daemon/daemon.ts';
import { LedgerUnavailableError, OutcomeUnknownError } from '../../src/pipeline/file/store-errors.ts';
import { recordingLogger } from '../pipeline/silent-logger.ts';

const away = new LedgerUnavailableError('away');

test.each([
  ['a call that failed', away, 'debug'],
  [
    'the copy of its error that pg-boss tells',
    { ...Object.fromEntries(Object.entries(away)), message: away.message },
    'debug',
  ],
  ['a commit with an unknown outcome', new OutcomeUnknownError(), 'debug'],
  ['a full disk of the database', new LedgerUnavailableError('disk full'), 'error'],
  ['a bug', new TypeError('away'), 'error'],
  ['no error at all', undefined, 'error'],
  ['nothing', null, 'error'],
])('of an outage, the log has its beginning and its end only: %s', (_, err, level) => {
  const journal = recordingLogger();
  const fields = err === undefined ? {} : { err };
  withoutOutage(journal).error('It failed', fields);
  expect(journal.lines).toEqual([{ level, message: 'It failed', fields }]);
});
