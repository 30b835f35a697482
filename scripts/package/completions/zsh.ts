import { allCommands } from '../command-tree.ts';
import type { ArgumentDocument, CommandDocument, OptionDocument, Value } from '../command-tree.ts';
import { flagsOf } from './flags.ts';
import { configFiles, printFolders } from './watched-folders.ts';

/** For /usr/share/zsh/vendor-completions, where compinit finds it by its first line. A function for each command. */
export function zshCompletion(program: CommandDocument): string {
  return `#compdef dropcast
# zsh completion for dropcast(8), made of the program itself.

_dropcast_folders() {
  local file
  local -a folders
  for file in ${configFiles}; do
    [[ -r $file ]] && folders=(\${(f)"$(${printFolders})"}) && break
  done
  (( $#folders )) && compadd -a folders || _files -/
}

${allCommands(program).map(commandFunction).join('\n')}
if [[ $funcstack[1] == _dropcast ]]; then
  _dropcast "$@"
else
  compdef _dropcast dropcast
fi
`;
}

function commandFunction(command: CommandDocument): string {
  return command.commands.length === 0 ? leafFunction(command) : groupFunction(command);
}

function leafFunction(command: CommandDocument): string {
  return `${functionName(command)}() {
  _arguments -s : \\
    ${[...command.options.map(optionSpec), ...command.arguments.map(argumentSpec)].join(' \\\n    ')}
}
`;
}

/**
 * Completes the next word of the command, or hands over to what that word names; options of its own may stand before.
 */
function groupFunction(command: CommandDocument): string {
  const described = command.commands.map((child) => quoted(`${lastWord(child)}:${child.summary}`)).join('\n      ');
  const cases = command.commands.map((child) => `    ${lastWord(child)}) ${functionName(child)} ;;`).join('\n');
  return `${functionName(command)}() {
  local curcontext=$curcontext state line
  _arguments -s -C : \\
    ${command.options.map(optionSpec).join(' \\\n    ')} \\
    '1: :->command' \\
    '*:: :->rest'
  case $state in
  command)
    local -a commands=(
      ${described}
    )
    _describe command commands
    ;;
  rest)
    case $line[1] in
${cases}
    esac
    ;;
  esac
}
`;
}

function functionName({ path }: CommandDocument): string {
  return `_dropcast${path === '' ? '' : `_${path.replaceAll(' ', '_')}`}`;
}

function lastWord({ path }: CommandDocument): string {
  return path.split(' ').at(-1) ?? '';
}

function optionSpec(option: OptionDocument): string {
  const flags = flagsOf(option);
  const text = `[${bare(option.description)}]`;
  const value = option.value === null ? '' : `:${option.value.name}:${action(option.value)}`;
  const isRepeated = option.description.includes('may be repeated');
  if (flags.length === 1) return quoted(`${isRepeated ? '*' : ''}${flags[0]}${text}${value}`);
  return `${quoted(`(${flags.join(' ')})`)}{${flags.join(',')}}${quoted(`${text}${value}`)}`;
}

function argumentSpec({ term, value }: ArgumentDocument): string {
  const name = term.replaceAll(/[<>[\].]/g, '');
  return quoted(`${term.includes('...') ? '*' : ''}:${name}:${action(value)}`);
}

function action(value: Value): string {
  switch (value.kind) {
    case 'file':
      return '_files';
    case 'directory':
      return '_files -/';
    case 'watched':
      return '_dropcast_folders';
    case 'one':
      return `(${value.of.join(' ')})`;
    case 'list':
      return `_values -s , state ${value.of.map((one) => one.replaceAll(' ', '\\ ')).join(' ')}`;
    case 'text':
      break;
  }
  return ' ';
}

/** What ends a description in a specification of _arguments. */
function bare(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, '\\$&');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
