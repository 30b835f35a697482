import { chmod, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { Environment } from '../../src/config/environment.ts';
import { loadConfig, type Loaded } from '../../src/config/load.ts';
import { formatProblem, type Problem } from '../../src/config/problem.ts';
import { scratchDirectory, type ScratchDirectory } from '../support/scratch-directory.ts';

/** A scratch directory with a configuration in it. */
export interface Scratch extends ScratchDirectory {
  readonly environment: Environment;
  write(name: string, content: string | Uint8Array, mode?: number): Promise<string>;
  load(content: string | Uint8Array, env?: Environment['env']): Promise<Loaded>;
  /** The problems of `dropcast.yaml` as an operator reads them, without the paths to here: `12:5 folders[0].path: …`. */
  problems(content: string | Uint8Array, env?: Environment['env']): Promise<string[]>;
  inWords(problems: readonly Problem[]): string[];
}

export async function scratch(): Promise<Scratch> {
  const directory = await scratchDirectory();
  const { path } = directory;
  const environment = { env: { KEY: 'abc' }, cwd: path, home: directory.file('home') };
  const write = async (name: string, content: string | Uint8Array, mode = 0o600): Promise<string> => {
    const file = directory.file(name);
    await writeFile(file, content);
    await chmod(file, mode);
    return file;
  };
  const load = async (content: string | Uint8Array, env?: Environment['env']): Promise<Loaded> =>
    loadConfig(await write('dropcast.yaml', content), env === undefined ? environment : { ...environment, env });
  const inWords = (problems: readonly Problem[]): string[] =>
    problems.map((problem) => formatProblem(problem, path).replaceAll(path, '').replace('dropcast.yaml:', ''));
  return {
    ...directory,
    environment,
    write,
    load,
    problems: async (content, env) => inWords((await load(content, env)).problems),
    inWords,
  };
}

/**
 * Holds problems against `line:column key ~ fact ~ fact`, one each and in this order: the place is exact, the message has to
 * mention each fact, and its words are its own.
 */
export function expectProblems(problems: readonly string[], expected: readonly string[]): void {
  const seen = problems.map((problem, index) => (isAs(problem, expected[index] ?? '') ? expected[index] : problem));
  expect(seen).toEqual(expected);
}

function isAs(problem: string, expected: string): boolean {
  const [place = '', ...facts] = expected.split(' ~ ');
  const message = problem.slice(place.length);
  return (
    problem.startsWith(place) &&
    message.startsWith(place.includes(' ') ? ': ' : ' ') &&
    facts.every((fact) => message.includes(fact))
  );
}
