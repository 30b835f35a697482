import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { show } from '../../../src/cli/look/show.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { someFacts, somePlan } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { fakeShell } from '../api/fake-shell.ts';
import { writeConfig } from '../../support/configuration.ts';

test('show prints the priority of a file, including the default; a file that no rule matches has none', async () => {
  await using scratch = await scratchDirectory();
  mkdirSync(scratch.file('inbox'));
  await writeConfig(scratch);
  {
    await using ledger = await openLedger(scratch.file('state'));
    const plans = { f_urgent: { ...somePlan, priority: 'high' }, f_usual: somePlan, f_held: null } as const;
    for (const [id, plan] of Object.entries(plans))
      await ledger.insert(someFacts({ id, plan, path: `${id}.mp4`, ...(plan === null && { end: 'held' as const }) }));
  }
  const shown = async (id: string): Promise<string> => {
    const shell = fakeShell({ env: { KEY: 'k' }, cwd: scratch.path });
    await show(shell, { config: scratch.file('dropcast.yaml') }, id);
    return shell.out.text;
  };
  expect(await shown('f_urgent')).toMatch(/^priority +high$/mu);
  expect(await shown('f_usual')).toMatch(/^priority +normal$/mu);
  expect(await shown('f_held')).not.toMatch(/^priority/mu);
});
