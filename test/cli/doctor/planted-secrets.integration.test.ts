import { execFile, spawnSync } from 'node:child_process';
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { doctor } from '../../../src/cli/doctor/doctor.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { someFacts, somePlan } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { fakeShell } from '../api/fake-shell.ts';
import { configText, writeConfig } from '../../support/configuration.ts';

const installed = { version: '1.2.3', samples: 'test/media' };

async function bundle(scratch: ScratchDirectory, env: Record<string, string> = {}): Promise<string> {
  const shell = fakeShell({ cwd: scratch.path, env });
  await doctor(installed, shell, {
    config: scratch.file('dropcast.yaml'),
    json: true,
    bundle: 'report.tar.gz',
    withNames: true,
  });
  const { stdout } = await promisify(execFile)('tar', ['-xzOf', scratch.file('report.tar.gz')], {
    maxBuffer: 64 * 2 ** 20,
  });
  return stdout;
}

/** How a secret appears where it was sent, logged or quoted. */
const encodings: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  'percent-encoded': (secret) => encodeURIComponent(secret),
  'form-encoded': (secret) => new URLSearchParams({ k: secret }).toString(),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  'base64 behind a user': (secret) => Buffer.from(`user:${secret}`).toString('base64'),
  base64url: (secret) => Buffer.from(`xx${secret}`).toString('base64url'),
  'in a header': (secret) => `authorization: Bearer ${secret}`,
  'in an address': (secret) =>
    `https://user:${encodeURIComponent(secret)}@hooks.example.com/a?key=${encodeURIComponent(secret)}`,
  'in JSON in a text': (secret) => JSON.stringify({ secret }),
};

const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Ways to give the key to dropcast, in a configuration that is right and in one that is wrong. */
const sources: readonly (readonly [name: string, apiKey: (secret: string) => string])[] = [
  ['as a word', (secret) => JSON.stringify(secret)],
  ['as a block', (secret) => `|-\n    ${secret}`],
  ['folded', (secret) => `>-\n    ${secret}`],
  ['with escapes', (secret) => `"${Array.from(secret, escaped).join('')}"`],
  ['in a file', () => '!file the.key'],
  ['in the environment', () => '!env THE_KEY'],
];

test.each(sources)(
  'a key %s is in no part of a bundle, however it was encoded where it was planted',
  async (name, apiKey) => {
    for (const [index, secret] of [
      'sk_live_"PLANT\\ED"/+&=ü~0001',
      'Pl4nted-0002/x+y==',
      'PLANTED-WORD',
      'PLANTED-WORD',
    ].entries()) {
      await using scratch = await scratchDirectory();
      await mkdir(scratch.file('in'));
      const broken = index % 2 === 0 ? '' : 'chanel: x\n';
      const right = configText({ folders: [{ path: 'in' }] }).replace('!env KEY', () => apiKey(secret));
      await writeFile(scratch.file('dropcast.yaml'), right + broken, { mode: 0o600 });
      await writeFile(scratch.file('the.key'), `${secret}\n`, { mode: 0o600 });
      const planted = Object.values(encodings).map((encode) => encode(secret));
      {
        await using ledger = await openLedger(scratch.file('state'));
        const why = planted.join(' ; ');
        const lastFailure = { kind: 'transient', code: secret, message: why, [secret]: 1 } as never;
        const failed = { end: 'failed', endedAt: 9, why, lastFailure, remoteStatus: secret } as const;
        const plan = { ...somePlan, title: why, tags: planted };
        await ledger.insert(someFacts({ ...failed, plan, folder: scratch.file('in'), id: 'f_1', path: 'a.mp4' }));
      }
      const lines = planted.map((message) =>
        JSON.stringify({ v: 1, message, code: message, [message]: 1, headers: { authorization: `Basic ${message}` } }),
      );
      await scratch.write('state/failures.jsonl', `${lines.join('\n')}\n`);
      const found = await bundle(scratch, name === 'in the environment' ? { THE_KEY: secret } : {});
      expect(found).toContain('"f_1"');
      for (const [how, encode] of Object.entries(encodings)) {
        const core = how.startsWith('base64') ? encode(secret).slice(8, -4) : encode(secret).slice(-12);
        expect(found, how).not.toContain(core);
      }
      expect(found).not.toMatch(/PLANT|Pl4nted/);
    }
  },
);

test('what a report is made of is not read through links, and no pipe keeps it waiting', async () => {
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('in'));
  await mkdir(scratch.file('state'), { mode: 0o700 });
  await writeConfig(scratch, { service: { api_key: 'abcdefgh' }, folders: [{ path: 'in' }] });
  const theirs = await scratch.write('theirs.jsonl', '{"v":1,"message":"OF SOMEBODY ELSE"}\n');
  await symlink(theirs, scratch.file('state/failures.jsonl'));
  spawnSync('mkfifo', [scratch.file('state/page-token')]);
  expect(await bundle(scratch)).not.toContain('OF SOMEBODY ELSE');
});

test('a report stays small enough to attach, however much there is', async () => {
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('in'));
  await writeConfig(scratch, { service: { api_key: 'abcdefgh' }, folders: [{ path: 'in' }] });
  {
    await using ledger = await openLedger(scratch.file('state'));
    const folder = scratch.file('in');
    for (let index = 0; index < 30; index += 1)
      await ledger.insert(
        someFacts({
          end: 'failed',
          endedAt: 9,
          why: 'x',
          folder,
          id: `f_${index}`,
          path: `${'n'.repeat(200)}${index}.mp4`,
        }),
      );
  }
  const line = `${JSON.stringify({ v: 1, message: 'x'.repeat(500) })}\n`;
  await scratch.write('state/failures.jsonl', line.repeat(3_000));
  expect((await bundle(scratch)).length).toBeLessThan(2 ** 20);
  expect((await stat(scratch.file('report.tar.gz'))).size).toBeLessThan(2 ** 18);
});
