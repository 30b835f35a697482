import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratchDirectory, type ScratchDirectory } from '../../support/scratch-directory.ts';
import { describeProgram } from '../../../scripts/package/command-tree.ts';
import { bashCompletion } from '../../../scripts/package/completions/bash.ts';
import { fishCompletion } from '../../../scripts/package/completions/fish.ts';
import { zshCompletion } from '../../../scripts/package/completions/zsh.ts';
import { needs } from '../../support/needs.ts';

let directory: ScratchDirectory;
let folder: string;

beforeAll(async () => {
  directory = await scratchDirectory();
  folder = directory.path;
  const program = describeProgram();
  await writeFile(join(folder, 'dropcast.bash'), bashCompletion(program));
  await writeFile(join(folder, 'dropcast.fish'), fishCompletion(program));
  await mkdir(join(folder, 'zsh'));
  await writeFile(join(folder, 'zsh/_dropcast'), zshCompletion(program));
  await mkdir(join(folder, 'media'));
  await writeFile(join(folder, 'media/a clip.mp4'), '');
});
afterAll(() => directory[Symbol.asyncDispose]());

/** What the shell offers for the last of the words. */
type Complete = (...words: readonly string[]) => readonly string[];

const bash: Complete = (...words) => {
  const script = `source ${folder}/dropcast.bash
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dropcast; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return run('bash', ['--norc', '-c', script, 'bash', ...words]);
};

const fish: Complete = (...words) => {
  const script = `source ${folder}/dropcast.fish; complete -C "$argv"`;
  const lines = run('fish', ['--no-config', '-c', script, words.join(' ')]);
  return lines.map((line) => line.split('\t', 1)[0] ?? '');
};

function run(shell: string, args: readonly string[]): readonly string[] {
  const env = { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb', LC_ALL: 'C.UTF-8' };
  const text = execFileSync(shell, args, { encoding: 'utf8', cwd: folder, env, timeout: 20_000 });
  return text.split('\n').filter((line) => line !== '');
}

const configuration = `service: { base_url: https://video.example.com/v1 }
folders:
  - path: /srv/media/in # of all
    rules: [{ match: "**", channel: ch_main }]
  - path: "/srv/my videos"
    rules: []
  - path: '/srv/sport'
`;

describe.each([
  ['bash', bash],
  ['fish', fish],
] as const)('%s', (shell, complete) => {
  test('offers commands, and those below them', needs(shell), () => {
    expect(complete('dropcast', '')).toEqual(expect.arrayContaining(['run', 'status', 'videos', 'sandbox']));
    expect(complete('dropcast', 'sta')).toEqual(['status']);
    expect(complete('dropcast', 'sandbox', 'keys', '')).toEqual(expect.arrayContaining(['list', 'create', 'revoke']));
    expect(complete('dropcast', 'videos', '')).not.toContain('run');
  });

  test('offers the options of the command, and no others', needs(shell), () => {
    expect(complete('dropcast', 'videos', 'list', '--st')).toEqual(['--status']);
    expect(complete('dropcast', 'ls', '--st')).toEqual(['--state']);
    expect(complete('dropcast', 'run', '--st')).toEqual([]);
  });

  test('offers the states, also behind a comma', needs(shell), () => {
    expect(complete('dropcast', 'ls', '--state', 'he')).toEqual(['held']);
    expect(complete('dropcast', 'ls', '-s', 'done,fa')).toEqual(['done,failed']);
    expect(complete('dropcast', 'ls', '--state', 'aw').map((word) => word.replaceAll('\\', ''))).toEqual(
      expect.arrayContaining(['awaiting upload', 'awaiting publish']),
    );
  });

  test('offers folders where a folder is meant, and files where files are', needs(shell), () => {
    for (const words of [['ls', '--folder'], ['pause'], ['resume'], ['setup', '--folder']])
      expect(complete('dropcast', ...words, 'med')).toEqual([expect.stringMatching(/^media\/?$/)]);
    expect(complete('dropcast', 'ignore', 'media/')).toHaveLength(1);
  });

  test('offers the watched folders of the configuration, and any directory for another one', needs(shell), async () => {
    const file = join(folder, 'dropcast.yaml');
    await writeFile(file, configuration);
    const plain = (words: readonly string[]): readonly string[] => words.map((word) => word.replaceAll('\\', ''));
    try {
      for (const words of [['ls', '--folder'], ['pause'], ['resume'], ['adopt']])
        expect(plain(complete('dropcast', ...words, ''))).toEqual(['/srv/media/in', '/srv/my videos', '/srv/sport']);
      expect(complete('dropcast', 'pause', '/srv/s')).toEqual(['/srv/sport']);
      expect(complete('dropcast', 'setup', '--folder', 'med')).toEqual([expect.stringMatching(/^media\/?$/)]);
    } finally {
      await rm(file);
    }
  });

  test('knows which options take a value', needs(shell), () => {
    // `once --wait` takes a time, `videos upload --wait` is a switch.
    expect(complete('dropcast', 'once', '--wait', '')).toEqual([]);
    expect(complete('dropcast', 'videos', 'upload', '--wait', 'media/')).toHaveLength(1);
    expect(complete('dropcast', 'sandbox', '--upload-origin', 'se')).toEqual(['separate']);
    expect(complete('dropcast', 'ls', '--state', 'done', '--j')).toEqual(['--json']);
    // A folder with the name of a command is no command.
    expect(complete('dropcast', 'sandbox', '--data', 'keys', '--por')).toEqual(['--port']);
  });

  test('offers files and directories where they are wanted', needs(shell), () => {
    expect(complete('dropcast', 'explain', 'media/').join().replaceAll('\\', '')).toContain('media/a clip.mp4');
    expect(complete('dropcast', 'once', '--config', 'dropcast.b')).toEqual(['dropcast.bash']);
    expect(complete('dropcast', 'sandbox', '--data', 'dropcast.b')).toEqual([]);
    expect(complete('dropcast', 'status', 'dropcast.b')).toEqual([]);
  });
});

test('bash splits --state=held in three words, and still it is completed', () => {
  expect(bash('dropcast', 'ls', '--state', '=', 'he')).toEqual(['held']);
  expect(bash('dropcast', 'ls', '--state', '=')).toContain('done');
});

test('fish takes --state=held as one word', needs('fish'), () => {
  expect(fish('dropcast', 'ls', '--state=he')).toEqual(['--state=held']);
});

/** Types each line and Tab into an interactive zsh, and gives what is then on the command line. */
function zsh(...lines: readonly string[]): readonly string[] {
  const script = `zmodload zsh/zpty
    zpty z 'TERM=dumb zsh -f -i'
    zpty -w z 'PS1=; fpath=(${folder}/zsh $fpath); autoload -Uz compinit; compinit -u -D; setopt no_beep; report() { print -r -- "<<$BUFFER>>"; BUFFER=; }; zle -N report; bindkey "^X" report; bindkey "^I" complete-word; print rea""dy'
    zpty -r z out '*ready*'
    for line in "$@"; do
      zpty -w -n z "$line"$'\\t\\x18'
      zpty -r z out '*>>*'
      print -r -- "$out"
    done
    zpty -d z`;
  const shown = run('zsh', ['-f', '-c', script, 'zsh', ...lines]).join('\n');
  return [...shown.matchAll(/<<(.*?)>>/g)].map(([, buffer = '']) => buffer.trimEnd());
}

test('zsh completes commands, options, states, words and files', needs('zsh'), () => {
  expect(
    zsh(
      'dropcast stat',
      'dropcast videos upl',
      'dropcast sandbox keys rev',
      'dropcast ls --sta',
      'dropcast ls --state hel',
      'dropcast ls --state done,hel',
      'dropcast ls --state awaiting\\ u',
      'dropcast sandbox --upload-origin sep',
      'dropcast explain media/',
      'dropcast sandbox --data med',
      'dropcast run --onl',
    ),
  ).toEqual([
    'dropcast status',
    'dropcast videos upload',
    'dropcast sandbox keys revoke',
    'dropcast ls --state',
    'dropcast ls --state held,',
    'dropcast ls --state done,held,',
    'dropcast ls --state awaiting\\ upload,',
    'dropcast sandbox --upload-origin separate',
    'dropcast explain media/a\\ clip.mp4',
    'dropcast sandbox --data media/',
    'dropcast run --onl',
  ]);
});

test('shellcheck has nothing to say about the completion of bash', needs('shellcheck'), () => {
  expect(run('shellcheck', ['--shell=bash', 'dropcast.bash'])).toEqual([]);
});
