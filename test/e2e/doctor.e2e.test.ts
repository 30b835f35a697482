import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { dropcast } from './dropcast-process.ts';
import { isCreate, refusal, startStation } from './station.ts';

test.each([
  ['moves its files and waits for markers', { after_ready: { move: 'done/{date}' }, done_marker: '{name}.{ext}.done' }],
  ['deletes its files', { after_ready: 'delete' as const }],
])(
  'a canary passes through a folder that %s, to a video, in no feed, and nothing but its explained row is left',
  async (_, setting) => {
    await using station = await startStation({
      folders: [{ ...setting, rules: [{ match: '**', channel: 'ch_news', publish: ['feed_news'] }] }],
    });
    const { code, stdout, stderr } = await dropcast([
      'doctor',
      '--canary',
      '--json',
      '--config',
      station.scratch.config,
    ]);
    expect({ code, stderr, stdout }).toMatchObject({ code: 0 });
    const { canary } = JSON.parse(stdout) as {
      canary: { steps: { state: string }[]; problem: null; leftovers: string[] };
    };
    expect(canary).toMatchObject({ problem: null, leftovers: [] });
    const states = canary.steps.map(({ state }) => state);
    expect(states[0]).toBe('queued');
    expect(states.at(-1)).toBe('done');
    expect(station.host.deleted).toHaveLength(1);
    expect([...station.host.videos]).toEqual([]);
    expect(station.host.publishes).toEqual([]);
    const files = (await readdir(station.scratch.file('inbox'), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
    expect(files.filter((name) => name !== '.dropcast')).toEqual([]);
    const [file] = (await station.files()).files;
    expect(file).toMatchObject({ state: 'done', why: 'a test clip: its video and its file were deleted on purpose' });
    const { history } = await station.show(file?.path ?? '');
    expect(history.at(-1)?.note).toBe('a test clip: its video and its file were deleted on purpose');
  },
);

test('a canary that does not get through says why, and leaves no file that needs anybody', async () => {
  await using station = await startStation();
  station.faults.api = (request, response) => isCreate(request) && refusal(response, 422, 'invalid_title');
  const { code, stdout } = await dropcast(['doctor', '--canary', '--json', '--config', station.scratch.config]);
  expect(code).toBe(1);
  const { canary } = JSON.parse(stdout) as { canary: { problem: string } };
  expect(canary.problem).toMatch(/^the test clip is failed: .*invalid_title/);
  expect(await readdir(station.scratch.file('inbox'))).toEqual(['.dropcast']);
  expect((await station.status()).needs_you).toEqual([]);
});
