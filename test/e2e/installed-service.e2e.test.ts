import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { alongside } from './alongside.ts';
import { dropcast, makeScratch, startDropcast } from './dropcast-process.ts';
import { until } from '../support/until.ts';
import { isCreate, refusal, startStation } from './station.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

alongside('what the service of systemd relies on', () => {
  test('a folder that comes late is awaited, while files of the others are uploaded', async () => {
    const twoFolders = [
      { path: 'late', rescan: '500ms' },
      { path: 'inbox', rescan: '2s' },
    ];
    await using station = await startStation({ folders: twoFolders, isStarted: false });
    const { scratch } = station;
    const check = await dropcast(['check', '--config', scratch.config]);
    expect(check).toMatchObject({ code: 78, stdout: expect.stringContaining('late does not exist') });
    const daemon = await station.start();
    expect(daemon.output()).toMatch(/folders\[0\]\.path: \S+late does not exist[^\n]*\n/);
    await station.drop('early.mpg');
    await station.reaches('early.mpg', 'done');
    // Another change is taken over while it is away; a new folder that is not there is a mistake.
    const text = await readFile(scratch.config, 'utf8');
    await writeFile(scratch.config, text.replace('rescan: 2s', 'rescan: 1s'));
    expect(await dropcast(['reload', '--config', scratch.config])).toMatchObject({ code: 0 });
    const typo = `  - { path: typo, rules: [{ match: "**", channel: ch_main }] }`;
    await writeFile(scratch.config, text.replace('folders:', `folders:\n${typo}`));
    expect(await dropcast(['reload', '--config', scratch.config])).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('typo does not exist'),
    });
    await mkdir(scratch.file('late'));
    const late = await station.drop(scratch.file('late', 'late.mpg'));
    await station.reaches(late, 'done');
  });

  test('failures go to the directory for logs, and survive its rotation', async () => {
    await using logs = await scratchDirectory();
    const log = logs.file('failures.jsonl');
    await using station = await startStation({ env: { LOGS_DIRECTORY: logs.path } });
    const linesOf = async (path: string) => (await readFile(path, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    station.faults.api = (request, response) => isCreate(request) && refusal(response, 422, 'title_taken');
    await station.drop('one.mpg');
    await until('the failure is written', async () => (await linesOf(log)).length > 0);
    await rename(log, `${log}.1`);
    await station.drop('two.mpg');
    await until('the next one is too', async () => (await linesOf(log)).length > 0);
    const [line = '{}'] = await linesOf(log);
    expect(JSON.parse(line)).toMatchObject({ file: station.scratch.file('inbox/two.mpg') });
    await expect(readFile(station.scratch.file('state/failures.jsonl'))).rejects.toThrow('ENOENT');
  });

  test('the drop-in for the folders of a configuration is printed', async () => {
    await using scratch = await makeScratch({ service: { api_key: 'k' } });
    const { code, stdout, stderr } = await dropcast(['systemd', 'drop-in', '--config', scratch.config]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n\[Service\]\n(?:.*\n)*BindReadOnlyPaths=-\S+\/inbox\n/),
    });
    expect(stderr).toMatch(/dropcast\.service reads \/etc\/dropcast\/dropcast\.yaml/);
    expect(stderr).toContain(scratch.config);
    await writeFile(
      scratch.config,
      (await readFile(scratch.config, 'utf8')).replace('path: inbox', 'path: "in\\tbox"'),
    );
    expect(await dropcast(['systemd', 'drop-in', '--config', scratch.config])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/in\\tbox" contains a control character, .*rename it\n$/),
    });
  });

  test('the configuration of an instance that is not there is named', async () => {
    expect(await dropcast(['systemd', 'drop-in', '--instance', 'a-test'])).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/^\/etc\/dropcast\/a-test\.yaml:1:1 cannot read the configuration: .*\n$/),
    });
    for (const name of ['../x', 'a b', '..', 'dropcast', ''])
      expect(await dropcast(['systemd', 'drop-in', '--instance', name]), name).toMatchObject({ code: 2 });
  });

  test('only root may install it; others see how', async () => {
    const args = ['systemd', 'drop-in', '--install', '--instance', 'a-test'];
    await using process = startDropcast(args, {}, isRoot ? nobody : undefined);
    expect(await process.ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /root .*\/dropcast@a-test\.service\.d\/folders\.conf; run: sudo dropcast systemd drop-in --install --instance a-test\n$/,
      ),
    });
  });
});
