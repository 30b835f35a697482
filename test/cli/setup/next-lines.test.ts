import { expect, test } from 'vitest';
import { nextLines } from '../../../src/cli/setup/setup.ts';

test('setup ends with who may drop files, how a person is added, and what to do next', () => {
  expect(nextLines({ path: '/srv/media/inbox', group: 'media', named: '' })).toEqual([
    'Members of the group media may drop files. To add a person: sudo usermod -aG media NAME    # from the next login',
    'Next: drop a file into /srv/media/inbox, then `sudo dropcast status`',
  ]);
  expect(nextLines({ path: '/srv/media/inbox', group: 'dropcast', named: '' })[0]).toBe(
    'Members of the group dropcast may drop files, and view its status. To add a person: sudo usermod -aG dropcast NAME    # from the next login',
  );
});

test('a folder that was there keeps its permissions, and an instance names its configuration', () => {
  const named = ' --config /etc/dropcast/press.yaml';
  expect(nextLines({ path: '/srv/press', group: null, named })).toEqual([
    'Next: drop a file into /srv/press, then `sudo dropcast status --config /etc/dropcast/press.yaml`',
  ]);
});
