import { expect, it } from 'vitest';
import { checkLayout, checkMoves, placesOf } from '../../src/config/checks.ts';

const keep = { kind: 'keep' } as const;
const folders = (...paths: string[]) =>
  paths.map((path, index) => ({ key: `folders[${index}]`, path, afterReady: keep }));
const found = (paths: string[], stateDir: string) =>
  checkLayout(placesOf({ folders: folders(...paths), stateDir })).map(
    ({ path, severity }) => `${path.join('.')} ${severity}`,
  );

it.each([
  ['folders side by side', ['/a/b', '/a/bc'], '/var/lib', []],
  ['a folder twice', ['/a', '/a'], '/s', ['folders.1.path error']],
  ['a folder three times', ['/a', '/a', '/a'], '/s', ['folders.1.path error', 'folders.2.path error']],
  ['a folder inside another', ['/a', '/a/b'], '/s', ['folders.1.path warning']],
  ['a folder inside a later one', ['/a/b', '/a'], '/s', ['folders.0.path warning']],
  ['everything below /', ['/', '/a'], '/s', ['folders.1.path warning', 'state_dir error']],
  ['state inside a folder', ['/a'], '/a/state', ['state_dir error']],
  ['state that is the folder', ['/a'], '/a', ['state_dir error']],
  ['a folder inside state', ['/s/inbox'], '/s', []],
  ['state next to a folder with a similar name', ['/a'], '/a-state', []],
])('%s', (_, paths, stateDir, expected) => {
  expect(found(paths, stateDir)).toEqual(expected);
});

it('names the nearest of the outer folders', () => {
  const [finding] = checkLayout(placesOf({ folders: folders('/a/b/c', '/a', '/a/b'), stateDir: '/s' }));
  expect(finding?.message).toContain(' /a/b,');
});

const moving = (to: string, ...others: string[]) => [
  { key: 'folders[0]', path: '/a', afterReady: { kind: 'move', to } as const },
  ...others.map((path, index) => ({ key: `folders[${index + 1}]`, path, afterReady: keep })),
];

it.each([
  ['into a watched folder', 'b', ['/a/b'], true],
  ['below a watched folder', 'b/done/{date}', ['/a/b'], true],
  ['next to a watched folder', 'bc', ['/a/b'], false],
  ['above a watched folder', 'done', ['/a/done/again'], false],
  ['next to each of its directories', '{dir}/done', ['/a/b'], false],
  ['with no other folder', 'done', [], false],
])('files that are moved %s: refused or not', (_, to, others, isRefused) => {
  const findings = checkMoves(moving(to, ...others)).map(({ path, severity }) => `${path.join('.')} ${severity}`);
  expect(findings).toEqual(isRefused ? ['folders.0.after_ready.move error'] : []);
});

it('names the folder that files would be moved into', () => {
  const [finding] = checkMoves(moving('b/done', '/a/b'));
  expect(finding?.message).toBe(
    '"b/done" leads into the watched folder /a/b, where finished files would be mistaken for new ones; choose a directory outside of it',
  );
});
