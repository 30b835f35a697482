import { chmod, lstat, mkdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { audit } from '../../../src/cli/act/audit.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { comparedOf } from '../../../src/pipeline/file/audit.ts';
import { versionOf } from '../../../src/pipeline/file/file-version.ts';
import { newAudit } from '../../../src/pipeline/rounds/audit.ts';
import { ready, someFacts } from '../../pipeline/some-facts.ts';
import { writeConfig } from '../../support/configuration.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { fakeShell } from '../api/fake-shell.ts';

const names = ['-rf', 'a\nb.mp4', 'rewritten.mp4', 'restricted.mp4', 'directory.mp4', 'link.mp4', 'gone.mp4'];

test('--paths prints only what is still as the audit read it, each name as it is', async () => {
  await using scratch = await scratchDirectory();
  const at = (name: string) => scratch.file('in', name);
  await mkdir(scratch.file('in'));
  await writeConfig(scratch, { folders: [{ path: 'in' }] });
  {
    await using ledger = await openLedger(scratch.file('state'));
    const run = newAudit({ folder: null, since: null, isQuick: false }, 'a test', names.length, 1);
    await ledger.beginAudit(run);
    for (const [n, path] of names.entries()) {
      await writeFile(at(path), 'content');
      await utimes(at(path), 1_000, 1_000);
      const version = versionOf(await lstat(at(path), { bigint: true }));
      const end = { end: 'done', endedAt: 5, disposal: 'kept' } as const;
      const row = someFacts({ ...ready, ...end, id: `f_${n}`, folder: scratch.file('in'), path, version });
      await ledger.insert(row);
      await ledger.addFindings([{ kind: 'deletable', fileId: row.id, note: comparedOf(row) }], run);
    }
  }
  await writeFile(at('rewritten.mp4'), 'another');
  await utimes(at('rewritten.mp4'), 1_000, 1_000);
  await chmod(at('restricted.mp4'), 0o600);
  for (const name of ['directory.mp4', 'link.mp4', 'gone.mp4']) await rename(at(name), at(`moved ${name}`));
  await mkdir(at('directory.mp4'));
  await symlink(at('moved link.mp4'), at('link.mp4'));
  const shell = fakeShell({ cwd: scratch.path, env: { KEY: 'abc' } });
  await audit(shell, { config: scratch.file('dropcast.yaml'), paths: true });
  expect(shell.out.text).toBe(`${at('-rf')}\0${at('a\nb.mp4')}\0`);
});
