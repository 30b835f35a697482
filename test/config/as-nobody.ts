import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { inspectSurroundings } from '../../src/config/inspect.ts';
import { ConfigNotFoundError, findConfig, loadConfig, type Problem, type Surroundings } from '../../src/config/load.ts';

const NOBODY = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;

/** False for a root whose clone is where nobody else can read it, as in `/root`. */
export const canBeRefused =
  !isRoot ||
  spawnSync(process.execPath, ['-e', 'fs.accessSync(process.argv[1])', import.meta.filename], NOBODY).status === 0;

/** Root is refused nothing: under root this runs in a process of nobody, else right here. */
export async function problemsAsNobody(file: string, around: Surroundings): Promise<Problem[]> {
  return (await asNobody({ file, around })) as Problem[];
}

/** Where the configuration is found when nobody has named one, or why not. */
export async function placeAsNobody(around: Surroundings): Promise<string> {
  return (await asNobody({ around })) as string;
}

interface Question {
  readonly file?: string;
  readonly around: Surroundings;
}

async function asNobody(question: Question): Promise<unknown> {
  if (!isRoot) return answer(question);
  const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, JSON.stringify(question)], {
    ...NOBODY,
    cwd: '/',
  });
  return JSON.parse(stdout) as unknown;
}

async function answer({ file, around }: Question): Promise<unknown> {
  if (file === undefined) return findPlace(around);
  const { config, problems, locate } = await loadConfig(file, around);
  return [...problems, ...(config === null ? [] : await inspectSurroundings(config, locate))];
}

async function findPlace(around: Surroundings): Promise<string> {
  try {
    return (await findConfig(undefined, around)).file;
  } catch (error) {
    if (error instanceof ConfigNotFoundError) return error.message;
    throw error;
  }
}

if (import.meta.main) console.log(JSON.stringify(await answer(JSON.parse(process.argv[2] ?? '') as Question)));
