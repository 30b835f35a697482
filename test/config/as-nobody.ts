import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { inspectSurroundings } from '../../src/config/inspect.ts';
import { loadConfig, type Problem, type Surroundings } from '../../src/config/load.ts';

const NOBODY = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;

/** False for a root whose clone is where nobody else can read it, as in `/root`. */
export const canBeRefused =
  !isRoot ||
  spawnSync(process.execPath, ['-e', 'fs.accessSync(process.argv[1])', import.meta.filename], NOBODY).status === 0;

/** Root is refused nothing: under root this runs in a process of nobody, else right here. */
export async function problemsAsNobody(file: string, around: Surroundings): Promise<Problem[]> {
  if (!isRoot) return allProblems(file, around);
  const input = JSON.stringify({ file, around });
  const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, input], NOBODY);
  return JSON.parse(stdout) as Problem[];
}

async function allProblems(file: string, around: Surroundings): Promise<Problem[]> {
  const { config, problems, locate } = await loadConfig(file, around);
  return [...problems, ...(config === null ? [] : await inspectSurroundings(config, locate))];
}

if (import.meta.main) {
  const { file, around } = JSON.parse(process.argv[2] ?? '') as { file: string; around: Surroundings };
  console.log(JSON.stringify(await allProblems(file, around)));
}
