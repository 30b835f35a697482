import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { doctor } from '../../../src/cli/doctor/doctor.ts';
import { startSandbox } from '@dropcast/sandbox';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { fakeShell, printedJson } from '../api/fake-shell.ts';
import { writeConfig, type Settings } from '../../support/configuration.ts';

const installed = { version: '0', samples: 'test/media' };

async function diagnose(scratch: ScratchDirectory, config: Settings, env: Record<string, string> = { KEY: 'k' }) {
  await mkdir(scratch.file('inbox'), { recursive: true });
  await writeConfig(scratch, config);
  const shell = fakeShell({ cwd: scratch.path, env });
  const code = await doctor(installed, shell, { config: scratch.file('dropcast.yaml'), json: true });
  const { checks } = printedJson(shell) as { checks: Diagnosis[] };
  const by = (name: string): Diagnosis => checks.find((each) => each.name === name) as Diagnosis;
  return { code, checks, by };
}

interface Diagnosis {
  readonly name: string;
  readonly skipped: string | null;
  readonly findings: readonly { readonly level: string; readonly what: string; readonly fix: string | null }[];
}

test('with the daemon down and all else right, the doctor finds that alone, with the command that starts it', async () => {
  await using scratch = await scratchDirectory();
  await using sandbox = await startSandbox();
  const { code, checks, by } = await diagnose(
    scratch,
    { service: { base_url: sandbox.baseUrl } },
    { KEY: sandbox.apiKey },
  );
  expect(code).toBe(1);
  expect(checks.flatMap(({ findings }) => findings)).toMatchObject([
    { level: 'problem', what: 'the daemon is not running', fix: 'dropcast run' },
  ]);
  expect(by('unit and permissions').skipped).toBe('this is not the configuration of an installed service');
});

const misspelt = { chanel: 'x' };

test('with a broken configuration the doctor still looks at disks, access and the ledger', async () => {
  await using scratch = await scratchDirectory();
  const { code, by } = await diagnose(scratch, { folders: [{ path: 'inbox', ...misspelt }] });
  expect(code).toBe(1);
  expect(by('configuration').findings[0]?.what).toContain('chanel');
  expect(by('service, key, channels and feeds').skipped).not.toBeNull();
  for (const name of ['disk', 'access to the folders', 'ledger and receipts', 'backups of the ledger'])
    expect(by(name)).toMatchObject({ skipped: null, findings: [] });
});

test('without any configuration the doctor says how to get one', async () => {
  await using scratch = await scratchDirectory();
  const shell = fakeShell({ cwd: scratch.path });
  expect(await doctor(installed, shell, { config: scratch.file('none.yaml'), json: true })).toBe(1);
  const { checks } = printedJson(shell) as { checks: Diagnosis[] };
  expect(checks[0]?.findings).toMatchObject([{ fix: 'dropcast init' }]);
  expect(checks.slice(1).every(({ skipped }) => skipped !== null)).toBe(true);
});

test('a notification target that does not answer is named, without its address', async () => {
  await using scratch = await scratchDirectory();
  const { by } = await diagnose(scratch, {
    notify: [
      { type: 'webhook', name: 'desk', url: 'http://127.0.0.1:9/secret-path' },
      { type: 'command', command: [scratch.file('none')] },
    ],
  });
  const { findings } = by('notifications');
  expect(findings.map(({ what }) => what)).toEqual([
    'the webhook target "desk" does not answer',
    'the command target "command" is not an executable program',
  ]);
  expect(JSON.stringify(findings)).not.toContain('secret-path');
});

test('a key that is not accepted, and a channel that the service does not know, are found', async () => {
  await using scratch = await scratchDirectory();
  await using sandbox = await startSandbox();
  const wrongKey = await diagnose(scratch, { service: { base_url: sandbox.baseUrl } });
  expect(wrongKey.by('service, key, channels and feeds').findings).toMatchObject([
    { level: 'problem', fix: 'replace the key that service.api_key names, then restart dropcast' },
  ]);
  const config = {
    service: { base_url: sandbox.baseUrl },
    folders: [{ rules: [{ match: '**', channel: 'ch_none' }] }],
  };
  const wrongChannel = await diagnose(scratch, config, { KEY: sandbox.apiKey });
  expect(wrongChannel.by('service, key, channels and feeds').findings[0]?.what).toContain('no channel "ch_none"');
});

test.skipIf(process.getuid?.() === 0)('a file that cannot be read is named', async () => {
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('inbox'));
  await chmod(await scratch.write('inbox/closed.mp4', 'x'), 0);
  const { by } = await diagnose(scratch, {});
  expect(by('access to the folders').findings[0]?.what).toContain('./closed.mp4');
});

test('for a world-writable file, the fix is a complete command', async () => {
  await using scratch = await scratchDirectory();
  const config = scratch.file('dropcast.yaml');
  await writeFile(config, '');
  await chmod(config, 0o666);
  const { by } = await diagnose(scratch, { service: { api_key: 'abcdefgh' } });
  const fixes = by('configuration').findings.map(({ fix }) => fix);
  expect(fixes).toEqual([`chmod o-w '${config}'`, `chmod 600 '${config}'`]);
});
