import { expect, it } from 'vitest';
import { checkLayout } from '../../src/config/check-layout.ts';

const folders = (...paths: string[]) => paths.map((path, index) => ({ key: ['folders', index, 'path'], path }));
const state = (path: string) => ({ key: ['state_dir'], path });
const found = (paths: string[], stateDir: string) =>
  checkLayout(folders(...paths), state(stateDir)).map(({ path, severity }) => `${path.join('.')} ${severity}`);

it.each([
  ['folders side by side', ['/a/b', '/a/bc'], '/var/lib', []],
  ['a folder twice', ['/a', '/a'], '/s', ['folders.1.path error']],
  ['a folder three times', ['/a', '/a', '/a'], '/s', ['folders.1.path error', 'folders.2.path error']],
  ['a folder inside of another', ['/a', '/a/b'], '/s', ['folders.1.path warning']],
  ['a folder inside of a later one', ['/a/b', '/a'], '/s', ['folders.0.path warning']],
  ['everything below /', ['/', '/a'], '/s', ['folders.1.path warning', 'state_dir error']],
  ['state inside of a folder', ['/a'], '/a/state', ['state_dir error']],
  ['state that is the folder', ['/a'], '/a', ['state_dir error']],
  ['a folder inside of state', ['/s/inbox'], '/s', []],
  ['state beside a folder of like name', ['/a'], '/a-state', []],
])('%s', (_, paths, stateDir, expected) => {
  expect(found(paths, stateDir)).toEqual(expected);
});

it('names the nearest of the outer folders', () => {
  const [finding] = checkLayout(folders('/a/b/c', '/a', '/a/b'), null);
  expect(finding?.message).toContain('inside of /a/b,');
});
