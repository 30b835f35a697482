import { expect, test } from 'vitest';
import { configPaths } from '../../src/config/paths.ts';
import { TaggedValue } from '../../src/config/raw-tree.ts';

const environment = {
  env: { STATE_DIRECTORY: '/var/lib/dropcast', LOGS_DIRECTORY: '/var/log/dropcast' },
  cwd: '/',
  home: '/home/op',
};

test('come from a tree that is wrong elsewhere', () => {
  const tree = {
    service: { api_key: 7, webhook_secret: new TaggedValue('file', '~/hook') },
    folders: [
      { path: './in', after_ready: 'delete', rules: 'none' },
      { pfad: '/lost' },
      'text',
      { path: '/srv/b', after_ready: { move: 'done' }, beside: true },
    ],
  };
  expect(configPaths(tree, '/etc/dropcast/dropcast.yaml', environment)).toEqual({
    file: '/etc/dropcast/dropcast.yaml',
    stateDir: '/var/lib/dropcast',
    socket: '/var/lib/dropcast/dropcast.sock',
    failureLog: '/var/log/dropcast/failures.jsonl',
    secretFiles: ['/home/op/hook'],
    folders: [
      { key: 'folders[0]', path: '/etc/dropcast/in', afterReady: { kind: 'delete' }, beside: false },
      { key: 'folders[3]', path: '/srv/b', afterReady: { kind: 'move', to: 'done' }, beside: true },
    ],
  });
});

test.each([null, 'text', [], { folders: {} }])('a tree of another shape has none: %j', (tree) => {
  expect(configPaths(tree, '/x.yaml', environment).folders).toEqual([]);
});
