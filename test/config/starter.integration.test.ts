import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { starterText } from '../../src/config/starter.ts';
import type { Starter } from '../../src/config/starter.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const usual: Starter = {
  baseUrl: 'https://video.example.com/v1',
  apiKey: { tag: 'env', argument: 'KEY' },
  folder: '/srv/media/inbox',
  channel: { id: 'ch_main', name: 'Main' },
  title: null,
  feeds: [],
  hasPage: true,
};

test('a first configuration is short, says how to continue, and names the channel', () => {
  expect(starterText(usual)).toBe(`# dropcast: the folder that it watches, and what happens to the files in it.
# \`dropcast check\` reports every problem with its line. All options: dropcast.yaml(5) and config.example.yaml.

service:
  base_url: https://video.example.com/v1
  # The key is in this environment variable.
  api_key: !env KEY
folders:
  - path: /srv/media/inbox
    # The first rule that matches a file wins; this one matches every file. A rule may also set description, tags and priority.
    rules:
      - match: "**"
        channel: ch_main # Main
`);
});

const hostile = 'a\nb: c\r\u0085\u2028#"\'{}[]: x\u001b[31m\u202e!';

test.each<[string, Partial<Starter>]>([
  ['an ordinary one', {}],
  ['a title and feeds', { title: '{title}: {date}', feeds: ['feed_a', '#b:c'] }],
  ['no page', { hasPage: false }],
  ['a hostile name', { channel: { id: 'ch_main', name: hostile } }],
  ['hostile ids', { channel: { id: 'no', name: null }, feeds: ['1e3', 'null', "it's"] }],
  ['a folder of many characters', { folder: `/srv/50% "off" # ${'ä'.repeat(150)}: it's {here}` }],
])('what was answered is what the configuration says: %s', async (_, part) => {
  await using scratch = await scratchDirectory();
  const starter = { ...usual, ...part };
  const file = scratch.file('dropcast.yaml');
  await writeFile(file, starterText(starter), { mode: 0o600 });
  const environment = { env: { KEY: 'k' }, cwd: scratch.path, home: scratch.path };
  const { config, problems } = await loadConfig(file, environment);
  expect(problems).toEqual([]);
  expect(config?.service.baseUrl).toBe(starter.baseUrl);
  expect(config?.folders).toMatchObject([
    {
      path: starter.folder,
      rules: [{ match: '**', channel: starter.channel.id, publish: starter.feeds, title: starter.title ?? '{title}' }],
    },
  ]);
  expect(config?.status.listen === null).toBe(!starter.hasPage);
});
