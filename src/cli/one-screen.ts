import { Help } from 'commander';
import type { Command } from 'commander';

/**
 * Makes `dropcast --help` fit on one screen: a line for each command, but one for all of a group that is named here; and no options, as
 * it has only two.
 */
export function oneScreen(program: Command, inOneLine: readonly string[]): void {
  const plain = new Help();
  program
    .configureHelp({
      subcommandTerm: termOf,
      visibleOptions: (command) => (command === program ? [] : plain.visibleOptions(command)),
      visibleCommands: (command) => command.commands.filter((each) => !inOneLine.includes(each.helpGroup())),
    })
    .addHelpText('after', () => `\n${inOneLine.map((group) => lineOf(program, group)).join('\n')}\n${AFTER}`);
}

/** Without `[options]`, which every command has. */
function termOf(command: Command): string {
  return `${command.name()} ${command.usage()}`.replaceAll(/ \[(?:options|command)\]/g, '');
}

function lineOf(program: Command, group: string): string {
  const names = program.commands.filter((each) => each.helpGroup() === group).map((each) => each.name());
  return `${group} ${names.join(', ')}`;
}

const AFTER = `
More: dropcast COMMAND --help, dropcast --version, man dropcast
Configuration: --config PATH, else $DROPCAST_CONFIG, else ./dropcast.yaml,
else /etc/dropcast/dropcast.yaml.
Exit codes: 0 fine, 1 something failed or needs a person, 2 wrong usage,
3 the daemon is not running, 78 the configuration is wrong.`;
