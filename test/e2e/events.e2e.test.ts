import { expect, test } from 'vitest';
import { dropcast } from './dropcast-process.ts';
import { startStation } from './station.ts';

interface Line {
  readonly type: string;
  readonly text: string;
  readonly path: string | null;
  readonly cursor?: string;
}

test('what a daemon reported is read after a kill -9: each event once, in order, also page by page and while it is stopped', async () => {
  await using station = await startStation();
  const { config } = station.scratch;
  const run = (...args: readonly string[]) => dropcast([...args, '--config', config]);
  const linesOf = (stdout: string): readonly Line[] =>
    stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
  const saidBy = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { code, stdout, stderr } = await run('events', '--json', ...args);
    expect(code, stderr).toBe(0);
    return linesOf(stdout).flatMap(({ type, text, path }) => {
      if (type === 'file') return text.startsWith('Done') ? [`${path} is done`] : [];
      return ['operator-pause', 'reload', 'started'].includes(type) ? [text.replace(/(paused) by .*/, '$1')] : [];
    });
  };
  await station.drop('clip.mpg');
  await station.reaches('clip.mpg', 'done');
  expect((await run('pause', '--all')).code).toBe(0);
  expect((await run('resume', '--all')).code).toBe(0);
  expect((await run('reload')).code).toBe(0);
  await station.daemon().kill('SIGKILL');
  const before = [
    'Daemon started',
    'clip.mpg is done',
    'Everything is paused',
    expect.stringMatching(/^Everything is no longer paused: .* ended the pause$/),
    'Configuration reloaded',
  ];
  expect(await saidBy()).toEqual(before);
  expect(await saidBy('--since', '1h')).toEqual(before);

  expect((await run('pause', '--all')).code).toBe(0);
  await station.start();
  expect((await run('resume', '--all')).code).toBe(0);
  await station.daemon().kill('SIGKILL');
  await station.start();
  const all = [
    ...before,
    'Everything is paused',
    'Daemon started',
    expect.stringMatching(/^Everything is no longer paused/),
    'Daemon started',
  ];
  expect(await saidBy('-n', '1000')).toEqual(all);
  expect(await saidBy('--since', '1h')).toEqual(all);

  const whole = linesOf((await run('events', '--json', '--since', '1h')).stdout);
  const paged: Line[] = [];
  for (let after: readonly string[] = []; ;) {
    const { stdout, stderr } = await run('events', '--json', '--since', '1h', '--lines', '6', ...after);
    paged.push(...linesOf(stdout));
    const [, cursor] = /--after (\S+),/.exec(stderr) ?? [];
    if (cursor === undefined) break;
    after = ['--after', cursor];
  }
  expect(paged).toEqual(whole);
  const wrong = [
    await run('events', '--since', 'gestern'),
    await run('events', '--since', '1h', '--after', 'x'),
    await run('events', '--since', '1h', '--follow'),
    await run('events', '--lines', '1001'),
  ];
  expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2, 2]);
});
