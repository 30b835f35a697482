import { allCommands } from '../command-tree.ts';
import type { CommandDocument, OptionDocument, Value } from '../command-tree.ts';
import { flagsOf, optionsWithValue } from './flags.ts';
import { configFiles, printFolders } from './watched-folders.ts';

/** For /usr/share/fish/vendor_completions.d. */
export function fishCompletion(program: CommandDocument): string {
  const commands = allCommands(program);
  const named = commands.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  const taking = commands.flatMap((command) =>
    optionsWithValue(command).flatMap((option) => flagsOf(option).map((flag) => quoted(`${command.path} ${flag}`))),
  );
  return `# fish completion for dropcast(8), made of the program itself.

# True behind this command, with nothing of a command below it.
function __dropcast_is_at
    set -l commands ${named.join(' ')}
    set -l taking ${taking.join(' ')}
    set -l path ''
    set -l is_value 0
    for word in (commandline -opc)[2..-1]
        if test $is_value = 1
            set is_value 0
        else if string match -q -- '-*' $word
            contains -- "$path $word" $taking; and set is_value 1
        else
            set -l next (string trim -- "$path $word")
            contains -- $next $commands; and set path $next
        end
    end
    test "$path" = "$argv[1]"
end

function __dropcast_folders
    for file in ${configFiles}
        test -r "$file"; or continue
        set -l folders (${printFolders})
        test (count $folders) -gt 0; or break
        printf '%s\\n' $folders
        return
    end
    __fish_complete_directories
end

complete -c dropcast -f
${commands.flatMap(commandLines).join('\n')}
`;
}

function commandLines(command: CommandDocument): readonly string[] {
  const here = `complete -c dropcast -n ${quoted(`__dropcast_is_at ${quoted(command.path)}`)}`;
  const takes = (kind: string): boolean => command.arguments.some(({ value }) => value.kind === kind);
  return [
    ...command.commands.map((child) => `${here} -a ${child.path.split(' ').at(-1)} -d ${quoted(child.summary)}`),
    ...command.options.map((option) => `${here} ${optionWords(option)}`),
    ...(takes('file') ? [`${here} -F`] : []),
    ...(takes('watched') ? [`${here} -a '(__dropcast_folders)'`] : []),
    ...(takes('directory') ? [`${here} -a '(__fish_complete_directories)'`] : []),
  ];
}

function optionWords({ short, long, description, value }: OptionDocument): string {
  const names = `${short === null ? '' : `-s ${short.slice(1)} `}-l ${long.slice(2)}`;
  return `${names} -d ${quoted(description)}${value === null ? '' : ` ${valueWords(value)}`}`;
}

function valueWords(value: Value): string {
  switch (value.kind) {
    case 'file':
      return '-r -F';
    case 'directory':
      return "-x -a '(__fish_complete_directories)'";
    case 'watched':
      return "-x -a '(__dropcast_folders)'";
    case 'one':
      return `-x -a ${quoted(value.of.join(' '))}`;
    case 'list':
      return `-x -a ${quoted(`(__fish_append , ${value.of.map(quoted).join(' ')})`)}`;
    case 'text':
      break;
  }
  return '-x';
}

/** Within single quotes of fish, backslash and quote are escaped. */
function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
