import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { checkDirectories } from '../../src/config/check-directories.ts';
import type { Environment } from '../../src/config/environment.ts';
import { ConfigNotFoundError, findConfig } from '../../src/config/find.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Problem } from '../../src/config/problem.ts';

const NOBODY = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;

/** Root is refused nothing: under root this runs in a process of nobody, else right here. */
export async function problemsAsNobody(file: string, environment: Environment): Promise<Problem[]> {
  return (await asNobody({ file, environment })) as Problem[];
}

/** Where the configuration is found when nobody has named one, or why not. */
export async function placeAsNobody(environment: Environment): Promise<string> {
  return (await asNobody({ environment })) as string;
}

interface Question {
  readonly file?: string;
  readonly environment: Environment;
}

async function asNobody(question: Question): Promise<unknown> {
  if (!isRoot) return answer(question);
  const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, JSON.stringify(question)], {
    ...NOBODY,
    cwd: '/',
  });
  return JSON.parse(stdout) as unknown;
}

async function answer({ file, environment }: Question): Promise<unknown> {
  if (file === undefined) return findPlace(environment);
  const { config, problems, locate } = await loadConfig(file, environment);
  return [...problems, ...(config === null ? [] : await checkDirectories(config, locate))];
}

async function findPlace(environment: Environment): Promise<string> {
  try {
    return (await findConfig(undefined, environment)).file;
  } catch (error) {
    if (error instanceof ConfigNotFoundError) return error.message;
    throw error;
  }
}

if (import.meta.main) console.log(JSON.stringify(await answer(JSON.parse(process.argv[2] ?? '') as Question)));
