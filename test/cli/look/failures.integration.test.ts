import { appendFile, rename, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { createFailurePrinter, failures, parseFailure } from '../../../src/cli/look/failures.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { fakeShell } from '../api/fake-shell.ts';
import { writeConfig } from '../../support/configuration.ts';

const now = new Date('2026-11-22T14:32:00').getTime();

interface Wanted {
  at?: number;
  file?: string;
  message?: string;
  state?: string;
  next?: string;
}
const line = ({
  at = now,
  file = '/in/a.mp4',
  message = 'the service answered 503',
  state = 'retrying',
  next = `next try not before ${new Date(at + 60_000).toISOString()}`,
}: Wanted = {}): string =>
  JSON.stringify({ v: 1, at: new Date(at).toISOString(), id: 'f_1', file, state, message, next });

function printed(...lines: readonly string[]): string[] {
  const output: string[] = [];
  const printer = createFailurePrinter(
    (text) => output.push(text),
    () => now,
  );
  for (const each of lines) {
    const record = parseFailure(each);
    if (record !== null) printer.add(record);
  }
  printer.flush();
  return output;
}

describe('a failure for a person', () => {
  test.each<[string, Wanted, string]>([
    ['that is tried again', {}, '2026-11-22 14:32  /in/a.mp4: the service answered 503; next try at 14:33'],
    [
      'that needs a person',
      { state: 'failed', next: 'failed', message: 'title is missing.' },
      '2026-11-22 14:32  /in/a.mp4: title is missing; needs you: dropcast show f_1',
    ],
    [
      'that is tried again at once',
      { next: 'tried again' },
      '2026-11-22 14:32  /in/a.mp4: the service answered 503; tried again soon',
    ],
    [
      'of a duplicate',
      { state: 'skipped', next: 'skipped', message: 'a copy' },
      '2026-11-22 14:32  /in/a.mp4: a copy; skipped',
    ],
    [
      'of a hostile name',
      { file: '/in/\u001b[2J\n.mp4' },
      String.raw`2026-11-22 14:32  /in/\x1b[2J\n.mp4: the service answered 503; next try at 14:33`,
    ],
    [
      'of another day',
      { at: now - 86_400_000, next: 'tried again' },
      '2026-11-21 14:32  /in/a.mp4: the service answered 503; tried again soon',
    ],
  ])('%s', (_, wanted, text) => {
    expect(printed(line(wanted))).toEqual([text]);
  });

  test('repeats are one line', () => {
    const files = ['b', 'c', 'd'].map((name) => line({ file: `/in/${name}.mp4` }));
    expect(
      printed(line(), ...files, line({ message: 'other' }), line({ message: 'other' }), line({ message: 'other' })),
    ).toEqual([
      '2026-11-22 14:32  /in/a.mp4: the service answered 503; next try at 14:33',
      '                  same as above: 3 files',
      '2026-11-22 14:32  /in/a.mp4: other; next try at 14:33',
      '                  same as above: 2 times, 1 file',
    ]);
  });

  test.each(['', 'root:x:0:0:secret', '{"v":1', 'null', '[]', '{"v":1,"at":5}'])(
    'nothing of a line that is none: %j',
    (text) => {
      expect(printed(text)).toEqual([]);
    },
  );
});

async function desk() {
  const scratch = await scratchDirectory();
  await writeConfig(scratch, { state_dir: '.' });
  const shell = fakeShell({ cwd: scratch.path });
  return {
    scratch,
    shell,
    log: scratch.file('failures.jsonl'),
    [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
  };
}

test('failures of the last hours are shown, those of the older file first, and nothing when there are none', async () => {
  await using here = await desk();
  await failures(here.shell, { since: 3_600_000 });
  expect(here.shell.out.text).toBe('');
  const at = Date.now();
  await writeFile(
    `${here.log}.old`,
    `${line({ at: at - 7_200_000, message: 'too old' })}\n${line({ at: at - 60_000, message: 'old' })}\n`,
  );
  await writeFile(here.log, `${line({ at, message: 'new' })}\n{"torn`);
  await failures(here.shell, { since: 3_600_000 });
  expect(here.shell.out.text).toMatch(
    /^\S+ \S+  \/in\/a.mp4: old; next try at .*\n\S+ \S+  \/in\/a.mp4: new; next try at .*\n$/,
  );
});

test('following continues over rotations, with every line once', async () => {
  await using here = await desk();
  await writeFile(here.log, `${line({ at: Date.now(), message: 'm0' })}\n`);
  const following = failures(here.shell, { since: 3_600_000, follow: true });
  const seen = (): string[] => here.shell.out.text.match(/m\d+(?=;)/g) ?? [];
  await until('the first is shown', () => seen().length === 1);
  await appendFile(here.log, `${line({ at: Date.now(), message: 'm1' })}\n`);
  await rename(here.log, `${here.log}.1`);
  await writeFile(here.log, `${line({ at: Date.now(), message: 'm2' })}\n`);
  await until('both are shown', () => seen().length === 3);
  await rename(here.log, `${here.log}.2`);
  await until('it has noticed nothing yet', () => true);
  await writeFile(here.log, `${line({ at: Date.now(), message: 'm3' })}\n`);
  await until('the last is shown', () => seen().length === 4);
  here.shell.stop();
  await following;
  expect(seen()).toEqual(['m0', 'm1', 'm2', 'm3']);
});

test('a link in place of the log is not followed, because a reader running as root would show another file', async () => {
  await using here = await desk();
  await writeFile(here.scratch.file('shadow'), `${line({ at: Date.now() })}\n`);
  await symlink(here.scratch.file('shadow'), here.log);
  await expect(failures(here.shell, { since: 3_600_000 })).rejects.toThrow(/cannot read the failure log/);
  expect(here.shell.out.text).toBe('');
});
