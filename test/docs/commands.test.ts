import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import type { Shell } from '../../src/cli/shell.ts';

const root = join(import.meta.dirname, '../..');
const shell = { stdout: new PassThrough(), stderr: new PassThrough() } as unknown as Shell;
const program = createProgram(shell, { version: '0', samples: '' }, () => undefined);
const commands = program.commands.map((each) => each.name());

/** In the first column of a table. */
const documented = (page: string): string =>
  readFileSync(join(root, page), 'utf8')
    .split('\n')
    .flatMap((line) => /^\| ((?:\\\||[^|])*) \|/.exec(line)?.[1] ?? [])
    .join('\n');

test.each(commands)('the design names `%s` in its table of commands', (name) => {
  expect(documented('docs/design.md')).toMatch(new RegExp(`\\b${name}\\b`));
});

test.each(globSync('{README.md,docs/*.md}', { cwd: root }))(
  '%s shows no command or option that does not exist',
  (page) => {
    const text = readFileSync(join(root, page), 'utf8');
    expect(commandsIn(text).filter((line) => !exists(line))).toEqual([]);
  },
);

test('a command or an option that does not exist is noticed', () => {
  const page =
    '`dropcast reload --plan`, `dropcast retty`\n    sudo dropcast notify test phone\n```sh\ndropcast top --slow\n```\n';
  expect(commandsIn(page).filter((line) => !exists(line))).toEqual(['dropcast top --slow', 'dropcast retty']);
});

/** In code of a line, indented code, and blocks of shell; `dropcast is …` is what is said. */
function commandsIn(page: string): readonly string[] {
  const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.split('\n'));
  const rest = page.replaceAll(/```.*?```/gs, '');
  const lines = [...rest.matchAll(/(?<=`)[^`\n]+(?=`)|(?<=^ {4})\S.*$/gm)].map(([line]) => line);
  return [...blocks, ...lines].flatMap(
    (line) => /^(?:sudo )?(dropcast (?!is )[a-z][^#|\\]*)/.exec(line)?.[1]?.trim() ?? [],
  );
}

function exists(line: string): boolean {
  const words = line.split(' ').slice(1);
  let command: Command = program;
  for (const word of words.filter((each) => !each.startsWith('-')))
    command = command.commands.find((each) => [each.name(), ...each.aliases()].includes(word)) ?? command;
  const options = new Set<string | undefined>([
    '--help',
    ...command.options.flatMap(({ long, short }) => [long ?? '', short ?? '']),
  ]);
  const wanted = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split('=')[0]);
  return command !== program && wanted.every((option) => options.has(option));
}
