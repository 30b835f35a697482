import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { events } from '../../src/cli/look/events.ts';
import { createNewsLines } from '../../src/daemon/news/lines.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { fakeShell } from './api/fake-shell.ts';
import { servedControl } from '../daemon/served-control.ts';

const service = 'service: { base_url: http://127.0.0.1:9/v1, api_key: !env KEY }';
const folders = 'folders: [{ path: /srv/in, rules: [{ match: "**", channel: ch }] }]';

/** Files with a mistake, and where their daemon listens, below the directory of the file. */
test.each([
  ['a misspelt key', `${service}\nstate_dir: st\nfolder: []\n`, 'st/dropcast.sock'],
  [
    'a misspelt key next to its own socket',
    `${service}\nstate_dir: st\nstatus: { socket: run/d.sock }\nx: 1\n`,
    'run/d.sock',
  ],
  ['no YAML at all', `${service}\nstate_dir: st\n${folders}\nlog: [oops\n`, 'st/dropcast.sock'],
  [
    'no YAML, and a socket',
    `state_dir: "st"\nstatus:\n  listen: off\n  socket: run/d.sock\nlog: [oops\n`,
    'run/d.sock',
  ],
])(
  'with %s, commands that only talk to the daemon still find it, and say that the file is broken',
  async (_, text, socket) => {
    await using scratch = await scratchDirectory();
    const config = scratch.file('dropcast.yaml');
    writeFileSync(config, text);
    for (const directory of ['st', 'run']) mkdirSync(scratch.file(directory));
    const shell = fakeShell({ env: { KEY: 'k' }, cwd: scratch.path });
    const ask = (): Promise<void> => events(shell, { config, level: 'info', lines: 5 });
    await expect(ask()).rejects.toMatchObject({ exitCode: 78 });
    const news = createNewsLines({ now: () => 0 }, (error) => expect.fail(String(error)));
    news.add({
      level: 'info',
      type: 'file',
      file: null,
      folder: null,
      path: null,
      state: null,
      text: 'It still works',
    });
    const daemon = { ledger: {}, news, startedAt: 1, config: () => ({ stateDir: scratch.file('st'), folders: [] }) };
    await using served = await servedControl(daemon, join(scratch.path, socket));
    expect(served).toBeDefined();
    await ask();
    expect(shell.out.text).toContain('It still works');
    expect(shell.err.text).toContain('dropcast.yaml is broken');
  },
);
