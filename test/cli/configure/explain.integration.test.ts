import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { explain } from '../../../src/cli/configure/explain.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { ready, someFacts } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { fakeShell } from '../api/fake-shell.ts';
import { writeConfig } from '../../support/configuration.ts';

test('explain says that a file is left alone where an earlier configuration moved files to', async () => {
  await using scratch = await scratchDirectory();
  mkdirSync(scratch.file('in/old'), { recursive: true });
  writeFileSync(scratch.file('in/old/clip.mp4'), 'x');
  await writeConfig(scratch, { folders: [{ path: 'in', after_ready: { move: 'new' } }] });
  {
    await using ledger = await openLedger(scratch.file('state'));
    const moved = { end: 'done', disposal: 'moved', afterReady: { kind: 'move', to: 'old' } } as const;
    await ledger.insert(someFacts({ ...ready, ...moved, folder: scratch.file('in'), path: 'old/other.mp4' }));
  }
  const shell = fakeShell({ env: { KEY: 'k' }, cwd: scratch.path });
  await explain(shell, { config: scratch.file('dropcast.yaml') }, 'in/old/clip.mp4');
  expect(shell.out.text).toContain('Ignored: after_ready moves finished files there (move: "old").');
});

test.each(['in/news/a\\xffb.mp4', 'in/news/a\uFFFDb.mp4'])(
  'explain knows a name that is not valid UTF-8 as `status` prints it and as a shell passes it: %j',
  async (name) => {
    await using scratch = await scratchDirectory();
    mkdirSync(scratch.file('in/news'), { recursive: true });
    writeFileSync(
      Buffer.concat([Buffer.from(scratch.file('in/news/a')), Buffer.from([0xff]), Buffer.from('b.mp4')]),
      'x',
    );
    await writeConfig(scratch, { folders: [{ path: 'in' }] });
    const shell = fakeShell({ env: { KEY: 'k' }, cwd: scratch.path });
    await explain(shell, { config: scratch.file('dropcast.yaml') }, name);
    expect(shell.out.text).not.toContain('no such file');
    expect(shell.out.text).toContain('Ignored: its name is not valid UTF-8: rename it.');
  },
);

test('explain says what speaks for a video being complete, and what is missing', async () => {
  await using scratch = await scratchDirectory();
  mkdirSync(scratch.file('in'));
  await writeConfig(scratch, { folders: [{ path: 'in', done_marker: '{name}.{ext}.done' }] });
  const explained = async (): Promise<string> => {
    const shell = fakeShell({ env: { KEY: 'k' }, cwd: scratch.path });
    await explain(shell, { config: scratch.file('dropcast.yaml') }, 'in/clip.wav');
    return shell.out.text;
  };
  writeFileSync(scratch.file('in/clip.wav'), 'RIFF\0\0\0\0WAVE');
  const missing = await explained();
  expect(missing).toContain('container    the container states no length: the file is still being recorded');
  expect(missing).toContain('done marker  clip.wav.done is missing');
  expect(missing).toContain('checksum     none');
  writeFileSync(scratch.file('in/clip.wav'), 'content');
  writeFileSync(scratch.file('in/clip.wav.done'), '');
  writeFileSync(scratch.file('in/clip.md5'), '9a0364b9e99bb480dd25e1f0284c8555');
  const there = await explained();
  expect(there).toContain('container    does not say that bytes are missing');
  expect(there).toContain('done marker  clip.wav.done is there');
  expect(there).toContain('checksum     MD5 in clip.md5, compared before the last part is sent');
});
