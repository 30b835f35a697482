import { mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { planText } from '../../src/cli/configure/reload.ts';
import type { Config } from '../../src/config/config.ts';
import { reapply } from '../../src/daemon/commands/reapply.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { planReload } from '../../src/daemon/rules/plan-reload.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { fakeShell } from '../cli/api/fake-shell.ts';
import { failure, ready, someFacts, somePlan } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { loadedConfig } from '../support/configuration.ts';
import { someFolderConfig, someRule } from '../support/folder-config.ts';

test('a reload is planned: what it changes, what new rules would cost for what was sent, and which folders', async () => {
  await using scratch = await scratchDirectory();
  for (const folder of ['in', 'old', 'new']) await mkdir(scratch.file(folder));
  const before = await loadedConfig(scratch, {
    folders: [{ path: 'in', rules: [{ match: '*.mp4', channel: 'ch_main', title: '{name}' }] }, { path: 'old' }],
  });
  const rules = [
    { match: 'a*', channel: 'ch_a', title: 'New {name}' },
    { match: 'd*', channel: 'ch_d', title: 'New {name}' },
    { match: '*.mov', channel: 'ch_main' },
  ];
  const after = await loadedConfig(scratch, { folders: [{ path: 'in', rules }, { path: 'new' }] });
  const folder = scratch.file('in');
  const plan = { ...somePlan, channel: 'ch_main', tags: [], publish: [] };
  const held = { plan: null, end: 'held', why: 'no rule matches', endedAt: 1 } as const;
  const rows = [
    someFacts({ id: 'f_a', folder, path: 'a.mp4', plan: { ...plan, title: 'a' } }),
    someFacts({ id: 'f_b', folder, path: 'b.mp4', plan: { ...plan, title: 'b' } }),
    someFacts({ id: 'f_c', folder, path: 'c.mov', ...held, lastFailure: failure('permanent', { code: 'no_rule' }) }),
    someFacts({
      ...ready,
      id: 'f_d',
      folder,
      path: 'd.mp4',
      plan: { ...plan, title: 'd' },
      end: 'done',
      disposal: 'kept',
      endedAt: 5,
    }),
    someFacts({
      ...ready,
      id: 'f_sidecar',
      folder,
      path: 'd-sidecar.mp4',
      plan: { ...plan, title: 'said by its sidecar', sidecar: { path: 'd-sidecar.yaml', sha256: 'aa' } },
      end: 'done',
      disposal: 'kept',
      endedAt: 5,
    }),
    someFacts({
      ...ready,
      id: 'f_gone',
      folder,
      path: 'd-gone.mp4',
      plan: { ...plan, title: 'd' },
      end: 'done',
      disposal: 'kept',
      endedAt: 5,
    }),
  ];
  for (const { path } of rows.slice(0, 4)) await writeFile(scratch.file('in', path), 'x');
  await using ledger = await openLedger(scratch.file('state'));
  for (const row of rows) await ledger.insert(row);
  const reload = await planReload(ledger, { before, after, now: 10 });
  expect(reload.folders.map(({ path, becomes }) => [path.slice(scratch.path.length + 1), becomes])).toEqual([
    ['old', 'left'],
    ['in', 'watched anew'],
    ['new', 'watched'],
  ]);
  const byFile = new Map(reload.waiting.changes.map((change) => [change.file, change]));
  expect(reload.waiting.files).toBe(3);
  expect(byFile.get('f_a')).toMatchObject({ what: ['channel', 'title'], after: { channel: 'ch_a', title: 'New a' } });
  expect(byFile.get('f_b')).toMatchObject({ what: ['held'], after: { held: 'no rule matches' } });
  expect(byFile.get('f_c')).toMatchObject({
    what: ['held'],
    before: { held: 'no rule matches' },
    after: { held: null },
  });
  // The channel of a video cannot be changed.
  expect(reload.sent).toMatchObject({ files: 2, requests: 2, left: 0 });
  const sent = new Map(reload.sent.changes.map((change) => [change.file, change.what]));
  expect(sent).toEqual(
    new Map([
      ['f_d', ['title']],
      ['f_gone', ['title']],
    ]),
  );
  const daemon = { ledger, rows: { held: () => [] }, fleet: null, config: () => after } as unknown as Daemon;
  const applied = await reapply(daemon, { names: [] }, { isPlanned: true });
  expect(
    applied.changes
      .filter(({ video_id: videoId }) => videoId !== null)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(['f_d', 'f_gone']);
  expect([applied.patches, applied.requests]).toEqual([reload.sent.requests, reload.sent.requests]);
  expect((await ledger.load('f_a'))?.plan?.channel).toBe('ch_main');
  const text = planText(reload, fakeShell({ cwd: scratch.path }));
  expect(text).toContain('A reload changes 3 files that have not been sent yet.');
  expect(text).toContain('costs 2 requests.');
  expect(text).toMatch(/Nothing was changed\.\n$/u);
});

test('a configuration that only moves lines changes nothing', async () => {
  const configOf = (line: number) =>
    ({ folders: [someFolderConfig('/in', { rules: [someRule({ line })] })] }) as unknown as Config;
  // No router is needed for no rows.
  const ledger = { rows: async () => [], totals: async () => ({}) as never };
  const reload = await planReload(ledger, { before: configOf(3), after: configOf(9), now: 0 });
  expect(reload).toMatchObject({ folders: [], waiting: { files: 0 }, sent: { files: 0, requests: 0, left: 0 } });
});
