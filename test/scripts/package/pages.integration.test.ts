import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { packageContents } from '../../../scripts/package/contents.ts';

const root = join(import.meta.dirname, '../../..');
const files = await packageContents(root, { version: '26.0.0', licence: 'MIT' }, 0);
const paths = new Set(files.map(({ path }) => `/${path}`));
const pages = files.filter(({ path }) => path.startsWith('usr/share/doc/') && path.endsWith('.md'));

test.each(pages.map(({ path, content }) => [path, String(content)]))(
  'every link of %s leads to a file of the package',
  (path, text) => {
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
    const missing = links.filter((link) => !paths.has(posix.resolve('/', posix.dirname(path), link)));
    expect(missing).toEqual([]);
  },
);

test.each(['configuration', 'when-something-fails', 'metrics', 'notifications', 'systemd', 'security'])(
  'the page %s is in the package',
  (page) => expect([...paths]).toContain(`/usr/share/doc/dropcast/${page}.md`),
);

test('so are dashboard and alerts', () => {
  for (const name of ['grafana.json', 'alerts.yml'])
    expect([...paths]).toContain(`/usr/share/doc/dropcast/examples/${name}`);
});

// What an operator never edits is never asked about: an upgrade replaces it without a word.
test('the only file below /etc is for logrotate, which says that it is not to be edited', () => {
  const below = files.filter(({ path }) => path.startsWith('etc/') && !path.endsWith('/'));
  expect(below.map(({ path }) => path)).toEqual(['etc/logrotate.d/dropcast']);
  expect(String(below[0]?.content)).toMatch(/^# Do not edit/);
});
