import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { allCommands, describeProgram } from '../../scripts/package/command-tree.ts';
import { createProgram } from '../../src/cli/program.ts';
import { fakeShell } from './api/fake-shell.ts';

const commands = allCommands(describeProgram());
const examples = commands.flatMap(({ after }) =>
  Array.from(after.matchAll(/^ {2}\$ dropcast (.+)$/gmu), ([, it]) => it),
);

/** The program, with commands that do nothing. */
function idle(): Command {
  const program = createProgram(fakeShell(), { version: '1', samples: '/' }, () => undefined);
  const still = (command: Command): void => {
    if (command.commands.length === 0 || command.name() === 'hosts') command.action(() => undefined);
    command.commands.forEach(still);
  };
  still(program);
  return program;
}

test.each(examples)('the example `dropcast %s` is a command line that dropcast takes', async (line = '') => {
  const words = Array.from(line.matchAll(/"([^"]*)"|(\S+)/gu), ([, quoted, plain]) => quoted ?? plain ?? '');
  await idle().parseAsync(['node', 'dropcast', ...words]);
});

test.each(['ls', 'retry', 'ignore', 'reapply', 'adopt', 'pause', 'events', 'failures', 'doctor', 'hosts'])(
  '`%s --help` has an example',
  (name) => {
    expect(commands.find(({ path }) => path === name)?.after).toMatch(/^Examples?:\n {2}\$ dropcast /mu);
  },
);

test.each(['ls', 'retry', 'ignore', 'reapply'])('`%s --help` lists what chooses files under a heading', (name) => {
  const help =
    idle()
      .commands.find((command) => command.name() === name)
      ?.helpInformation() ?? '';
  const [own = '', which = ''] = help.split('\nWhich files:\n');
  expect(own).not.toContain('--channel');
  for (const option of ['--state', '--folder', '--host', '--channel', '--feed', '--cause', '--since', '--query'])
    expect(which).toContain(option);
  expect(which).not.toContain('--json');
});
