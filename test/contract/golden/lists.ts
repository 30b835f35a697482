import { configJsonSchema } from '../../../src/config/json-schema.ts';
import { exitCodes } from '../../../src/cli/shell.ts';
import { knownStates } from '../../../src/view/stages.ts';
import { allCommands, describeProgram } from '../../../scripts/package/command-tree.ts';
import type { OptionDocument } from '../../../scripts/package/command-tree.ts';
import { configurationItems } from './configuration.ts';
import { documentsOf } from './documents.ts';
import { columns, placeItems } from './lines.ts';
import { shapeOf } from './json-shape.ts';
import type { Place } from './json-shape.ts';
import { logFieldItems } from './log-fields.ts';
import { metricItems } from './metrics.ts';
import { openProgram } from './program.ts';

export const listNames = [
  'commands.txt',
  'configuration.txt',
  'documents.txt',
  'exit-codes.txt',
  'log-fields.txt',
  'metrics.txt',
  'words.txt',
] as const;

export type ListName = (typeof listNames)[number];

/** Name of a list → its lines, sorted. */
export type Lists = Readonly<Record<ListName, readonly string[]>>;

/**
 * What users rely on, read from the program as it is now.
 *
 * @throws {Error} when a function prints JSON for no known command
 */
export async function contractLists(): Promise<Lists> {
  using program = openProgram();
  const { shapes, unclaimed } = documentsOf(program);
  if (unclaimed.length > 0)
    throw new Error(`documents.ts does not say which command prints the JSON of: ${unclaimed.join(', ')}`);
  const named = program.checker.getTypeAtLocation(program.interfaceNamed('ContractWords'));
  const words = shapeOf(named === undefined ? [] : [named], program.checker);
  return {
    'commands.txt': sorted(commandItems()),
    'configuration.txt': sorted(configurationItems(configJsonSchema())),
    'documents.txt': sorted([...shapes].flatMap(([command, shape]) => placeItems(command, shape))),
    'exit-codes.txt': sorted(Object.entries(exitCodes).map(([name, code]) => columns(String(code), name))),
    'log-fields.txt': sorted(await logFieldItems(program)),
    'metrics.txt': sorted(await metricItems()),
    'words.txt': sorted([
      ...[...shapes].flatMap(([command, shape]) => wordItems(`${command}  `, shape)),
      ...wordItems('', words),
      ...failingFolders
        .flatMap((folder) => program.textsOf('code', folder))
        .map((code) => columns('failure code', code)),
      ...['operation', 'asking']
        .flatMap((name) => program.textsOf(name, 'packages/client/src'))
        .map((operation) => columns('request operation', operation)),
      ...knownStates.map((state) => columns('shown file state', state)),
    ]),
  };
}

/** Where failures of files get their codes. */
const failingFolders = ['src/disk', 'src/host', 'src/intake', 'src/pipeline'];

const sorted = (items: readonly string[]): readonly string[] => [...new Set(items)].toSorted();

function wordItems(subject: string, shape: ReadonlyMap<string, Place>): readonly string[] {
  return [...shape].flatMap(([path, { words }]) => [...words].map((word) => columns(`${subject}${path}`, word)));
}

function commandItems(): readonly string[] {
  return allCommands(describeProgram()).flatMap(({ path, arguments: given, options: all }) => {
    const command = path === '' ? 'dropcast' : path;
    const options = all.filter(({ long }) => path === '' || long !== '--help'); // every command has it
    return [
      columns(command, ...given.map(({ term }) => term)),
      ...options.flatMap((option) => optionItems(command, option)),
    ];
  });
}

function optionItems(command: string, { short, long, value, standard }: OptionDocument): readonly string[] {
  const words = value === null || !('of' in value) || value.kind === 'list' ? [] : value.of;
  return [
    columns(command, long, value === null ? '' : `<${value.name}>`, standard === null ? '' : `default ${standard}`),
    ...(short === null ? [] : [columns(command, long, 'also', short)]),
    ...words.map((word) => columns(command, long, 'takes', word)),
  ];
}
