import { startSandbox } from '@dropcast/sandbox';
import { expect, test } from 'vitest';
import type { InstalledService } from '../../../src/config/installed-service.ts';
import type { Questions } from '../../../src/cli/setup/questions.ts';
import { probeService } from '../../../src/cli/setup/setup.ts';
import { writeConfig } from '../../support/configuration.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { fakeShell } from '../api/fake-shell.ts';

const answering = (is: boolean): Questions => ({ confirm: () => Promise.resolve(is) }) as unknown as Questions;

/** Runs the step of setup with the configuration of a service. */
async function step(isWanted: boolean | undefined, questions: Questions | null, key?: string) {
  await using scratch = await scratchDirectory();
  await using sandbox = await startSandbox({ processingMs: { min: 1, max: 2 } });
  const service = { base_url: sandbox.baseUrl, api_key: key ?? sandbox.apiKey };
  const configFile = await writeConfig(scratch, { service });
  const shell = fakeShell({ cwd: scratch.path });
  const wanted = { samples: 'test/media', isWanted, questions };
  const said = await probeService(shell, { configFile } as InstalledService, wanted).catch(
    (error: Error) => error.message,
  );
  const creates = sandbox.requests().filter(({ operation }) => operation === 'videos.create').length;
  return { said, creates, out: shell.out.text };
}

test.each<[string, boolean | undefined, Questions | null]>([
  ['a flag', true, null],
  ['an answer', undefined, answering(true)],
])('setup probes the service after %s, and prints the points', async (_, isWanted, questions) => {
  const { said, creates, out } = await step(isWanted, questions);
  expect([said, creates]).toEqual(['see above; `dropcast probe` repeats it', 1]);
  expect(out).toContain('No further settings needed.');
});

test.each<[string, Questions | null]>([
  ['without a terminal', null],
  ['after a no', answering(false)],
])('setup does not probe the service %s', async (_, questions) => {
  expect(await step(undefined, questions)).toEqual({ said: null, creates: 0, out: '' });
});

test('setup stops if the probe does not get through', async () => {
  const { said, creates } = await step(true, null, 'sk_test_wrong_0123');
  expect([said, creates]).toEqual(['the probe failed: see above', 1]);
});
