import { Writable } from 'node:stream';
import { Help } from 'commander';
import type { Argument, Command, Option } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import type { Shell } from '../../src/cli/shell.ts';
import { knownStates, stagesAndEnds } from '../../src/view/stages.ts';

/** What a command says of itself in --help, as data: what the manual and the completions are made of. */
export interface CommandDocument {
  /** `sandbox keys list`; empty for the program. */
  readonly path: string;
  readonly description: string;
  /** The description in few words. */
  readonly summary: string;
  /** Heading that it is listed under. */
  readonly group: string;
  readonly arguments: readonly ArgumentDocument[];
  readonly options: readonly OptionDocument[];
  /** What --help says behind the options. */
  readonly after: string;
  readonly commands: readonly CommandDocument[];
}

export interface ArgumentDocument {
  /** `<path>`, `[names...]` */
  readonly term: string;
  readonly value: Value;
}

export interface OptionDocument {
  readonly short: string | null;
  readonly long: string;
  readonly description: string;
  /** As one reads it. */
  readonly standard: string | null;
  /** Null for a switch. */
  readonly value: (Value & { readonly name: string }) | null;
}

/** What can stand in a place, as far as a shell can complete it. */
export type Value =
  /** `watched`: a folder of the configuration. */
  | { readonly kind: 'file' | 'directory' | 'watched' | 'text' }
  | { readonly kind: 'one' | 'list'; readonly of: readonly string[] };

/** All commands, from the same program that runs. */
export function describeProgram(): CommandDocument {
  const shell = { stdout: NOWHERE, stderr: NOWHERE } as unknown as Shell; // nothing of it runs
  return describe(
    createProgram(shell, { version: '', samples: '' }, () => undefined),
    '',
  );
}

/** The command and all below it, each before its own. */
export function allCommands(command: CommandDocument): readonly CommandDocument[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

const NOWHERE = new Writable({ write: (_part, _encoding, done) => done() });

/** That of the program leaves out what one screen has no room for. */
const plainHelp = new Help();

function describe(command: Command, path: string): CommandDocument {
  return {
    path,
    description: command.description(),
    summary: command.summary() || command.description(),
    group: command.helpGroup().replace(/:$/, ''),
    arguments: command.registeredArguments.map((argument) => describeArgument(argument, path)),
    options: plainHelp.visibleOptions(command).map(describeOption),
    after: helpAfter(command),
    commands: command.commands.map((child) => describe(child, `${path} ${child.name()}`.trim())),
  };
}

/** Commands that take files by name; whatever else they take cannot be completed. */
const takeFiles = new Set(['show', 'retry', 'ignore', 'reapply']);

function describeArgument(argument: Argument, path: string): ArgumentDocument {
  const name = argument.name() + (argument.variadic ? '...' : '');
  const term = argument.required ? `<${name}>` : `[${name}]`;
  const value: Value = takeFiles.has(path) ? { kind: 'file' } : valueOf(argument.name(), argument.argChoices);
  return { term, value };
}

function describeOption(option: Option): OptionDocument {
  const name = /[<[](.+?)[>\]]/.exec(option.flags)?.[1] ?? null;
  return {
    short: option.short ?? null,
    long: option.long ?? option.flags,
    description: option.description,
    standard:
      option.defaultValueDescription ?? (option.defaultValue === undefined ? null : String(option.defaultValue)),
    value:
      name === null
        ? null
        : { name, ...valueOf(option.long === '--folder' && name === 'path' ? 'folder' : name, option.argChoices) },
  };
}

function valueOf(name: string, choices: readonly string[] | undefined): Value {
  if (choices !== undefined) return { kind: 'one', of: choices };
  if (name === 'states')
    return { kind: 'list', of: plainFirst([...new Set<string>([...stagesAndEnds, ...knownStates])]) };
  if (['folder', 'folders'].includes(name)) return { kind: 'watched' };
  if (['dir', 'directory'].includes(name)) return { kind: 'directory' };
  return { kind: ['path', 'paths', 'file'].includes(name) ? 'file' : 'text' };
}

/** Words that need no quoting before those with a blank. */
function plainFirst(words: readonly string[]): readonly string[] {
  return words.toSorted((a, b) => Number(a.includes(' ')) - Number(b.includes(' ')));
}

/** commander keeps these texts as listeners: they are seen only as they are written. */
function helpAfter(command: Command): string {
  let written = '';
  const before = command.configureOutput();
  command.configureOutput({ ...before, writeOut: (text) => (written += text) });
  command.outputHelp();
  command.configureOutput(before);
  return written.slice(written.indexOf(command.helpInformation()) + command.helpInformation().length).trim();
}
