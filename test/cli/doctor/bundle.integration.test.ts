import { execFile } from 'node:child_process';
import { appendFile, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { doctor } from '../../../src/cli/doctor/doctor.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { stateOf } from '../../../src/pipeline/file/facts.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { readBundle, replay } from '../../../scripts/replay-bundle.ts';
import { created, someFacts } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { fakeShell } from '../api/fake-shell.ts';
import { writeConfig } from '../../support/configuration.ts';

const failed = { end: 'failed', endedAt: 9, why: 'refused' } as const;
const held = { end: 'held', endedAt: 9 } as const;
const installed = { version: '1.2.3', samples: 'test/media' };

/** Must be nowhere in a bundle. */
const secrets = {
  key: 'sk_live_PLANTEDKEY0001',
  webhook: 'whsec_UExBTlRFRFdFQkhPT0s=',
  token: 'PLANTEDPAGETOKEN0003',
  signature: 'PLANTEDSIGNATURE0004',
  mail: 'anna.planted@example.com',
  path: 'hooks/PLANTEDPATH0006',
};

/** Must be in a bundle only when they are wanted. */
const names = [
  'Divorce_of_the_Minister',
  'Säkret Töpic',
  'confidential show',
  'Top Secret Title',
  'private tag',
  'quote"name',
];

async function sick(scratch: ScratchDirectory): Promise<readonly Facts[]> {
  await mkdir(scratch.file('in'));
  const settings = { service: { api_key: secrets.key, webhook_secret: secrets.webhook }, folders: [{ path: 'in' }] };
  await appendFile(
    await writeConfig(scratch, settings),
    `# ask ${secrets.mail} or https://hooks.example.com/${secrets.path}\n`,
  );
  const folder = scratch.file('in');
  const plan = {
    ...someFacts().plan,
    title: 'Top Secret Title',
    description: null,
    tags: ['private tag'],
  } as Facts['plan'];
  const upload = { uploadUrl: `https://up.example.com/x?X-Amz-Signature=${secrets.signature}` };
  const rows = [
    someFacts({ ...created, ...upload, ...failed, folder, plan, id: 'f_1', path: `confidential show/${names[0]}.mp4` }),
    someFacts({
      ...held,
      folder,
      plan: { ...plan!, sidecar: { path: `${names[1]}.yaml`, sha256: 'aa' } },
      id: 'f_2',
      path: `${names[1]}.mov`,
      why: `sidecar of ${names[1]}.mov is broken`,
    }),
    someFacts({ ...failed, folder, plan, id: 'f_3', path: `${names[5]}.mp4` }),
  ];
  {
    await using ledger = await openLedger(scratch.file('state'));
    for (const facts of rows) await ledger.insert(facts);
  }
  await scratch.write('state/page-token', secrets.token);
  const failure = {
    v: 1,
    file: 'f_1',
    path: `${folder}/confidential show/${names[0]}.mp4`,
    message: `${secrets.key} ${names[0]} ${upload.uploadUrl}`,
  };
  await scratch.write('state/failures.jsonl', `${JSON.stringify(failure)}\n`);
  return rows;
}

async function bundle(scratch: ScratchDirectory, withNames: boolean): Promise<string> {
  const shell = fakeShell({ cwd: scratch.path });
  const config = scratch.file('dropcast.yaml');
  await doctor(installed, shell, { config, json: true, bundle: 'report.tar.gz', withNames });
  const { stdout } = await promisify(execFile)('tar', ['-xzOf', scratch.file('report.tar.gz')]);
  return stdout;
}

test('a bundle holds rows, findings, configuration and failures, and nothing of it is secret or names a file', async () => {
  await using scratch = await scratchDirectory();
  await sick(scratch);
  const text = await bundle(scratch, false);
  for (const part of [
    '"version": "1.2.3"',
    '"f_1"',
    'the daemon is not running',
    '"base_url": "http://127.0.0.1:9"',
    'ch_main',
  ])
    expect(text).toContain(part);
  for (const secret of Object.values(secrets)) expect(text, secret).not.toContain(secret);
  for (const name of names) expect(text.toLowerCase(), name).not.toContain(name.toLowerCase());
  expect(text).toMatch(/"path": "n-[0-9a-f]{10}\/n-[0-9a-f]{10}\.mp4"/);
  expect((await stat(scratch.file('report.tar.gz'))).mode & 0o777).toBe(0o600);
});

test('a report replaces an older one, and is not written through a link', async () => {
  await using scratch = await scratchDirectory();
  await sick(scratch);
  const [report, victim] = [scratch.file('report.tar.gz'), await scratch.write('victim', 'precious')];
  const write = () =>
    doctor(installed, fakeShell({ cwd: scratch.path }), {
      config: scratch.file('dropcast.yaml'),
      json: true,
      bundle: report,
    });
  await symlink(victim, report);
  await expect(write()).rejects.toThrow(
    `cannot write the report ${report}: something that is not a regular file has this name`,
  );
  expect(await readFile(victim, 'utf8')).toBe('precious');
  await rm(report);
  await writeFile(report, 'older', { mode: 0o644 });
  await write();
  expect((await stat(report)).mode & 0o777).toBe(0o600);
  const nowhere = { config: scratch.file('dropcast.yaml'), json: true, bundle: 'none/report.tar.gz' };
  await expect(doctor(installed, fakeShell({ cwd: scratch.path }), nowhere)).rejects.toThrow('cannot write the report');
});

test('names with quotes and spaces in what was logged are not in a bundle', async () => {
  await using scratch = await scratchDirectory();
  await sick(scratch);
  const name = `it's the "hidden" plan of May`;
  const unknown = `Paul's second \\"veiled\\" film`;
  const line = {
    v: 1,
    message: `${scratch.file('in')}/${name}.mp4: gone`,
    note: `moved ${name}.mp4`,
    other: `path="${scratch.file('in')}/${unknown}.mp4" x=1`,
  };
  await scratch.write('state/failures.jsonl', `${'x'.repeat(600_000)}\n${JSON.stringify(line)}\n`);
  const text = await bundle(scratch, false);
  for (const word of ['hidden', 'plan of May', 'veiled', 'second']) expect(text, word).not.toContain(word);
  expect(text).toContain('"message":"[set]"');
});

test('with --with-names the names stay, and the secrets do not', async () => {
  await using scratch = await scratchDirectory();
  await sick(scratch);
  const text = await bundle(scratch, true);
  for (const secret of Object.values(secrets)) expect(text, secret).not.toContain(secret);
  for (const name of names.slice(0, 5)) expect(text).toContain(name);
});

test('the same name has the same pseudonym everywhere, and a sidecar still has the name of its video', async () => {
  await using scratch = await scratchDirectory();
  await sick(scratch);
  const text = await bundle(scratch, false);
  const [, mark] = /"path": "(n-[0-9a-f]{10})\.mov"/.exec(text) ?? [];
  expect(text).toContain(`"path": "${mark}.yaml"`);
});

test('the machine decides about the rows of a bundle as it did about the rows themselves', async () => {
  await using scratch = await scratchDirectory();
  const rows = await sick(scratch);
  await bundle(scratch, false);
  const bundled = await readBundle(scratch.file('report.tar.gz'));
  expect(Object.fromEntries(bundled.rows.map(({ facts, state }) => [facts.id, state]))).toEqual(
    Object.fromEntries(rows.map((facts) => [facts.id, stateOf(facts)])),
  );
  const replayed = replay(bundled);
  expect(replayed.every(({ isSame }) => isSame)).toBe(true);
  expect(replayed.map(({ line }) => line).join('\n')).toContain('FILE_GONE → vanished');
  // A row that lost what the machine decides by is noticed.
  const first = bundled.rows.find(({ facts }) => facts.id === 'f_1');
  const torn = { ...bundled, rows: [{ ...first!, facts: { ...first!.facts, end: null, endedAt: null } }] };
  expect(replay(torn)[0]?.isSame).toBe(false);
});

test('a bundle of an installation without a configuration says so', async () => {
  await using scratch = await scratchDirectory();
  expect(await bundle(scratch, false)).toContain('no configuration says where the ledger is');
});
