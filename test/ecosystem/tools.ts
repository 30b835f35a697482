import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');

/** Where the tools are installed. */
export const home = join(root, 'build/ecosystem');

/** Path of a tool's program. */
export const tool = (name: string): string => join(home, 'node_modules/.bin', name);

/** None of the tools reports its use or looks for a newer version. */
const ENVIRONMENT = { DO_NOT_TRACK: '1', REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Runs a tool to its end. @returns what it printed. @throws when it fails, with what it printed */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env: more = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  const env = { ...process.env, ...ENVIRONMENT, ...more };
  try {
    return (await promisify(execFile)(command, args, { cwd, env, maxBuffer: 2 ** 24 })).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** A folder with the programs and the contract. Leaving its block removes it. */
export interface Workspace extends AsyncDisposable {
  readonly path: string;
}

/** Creates a copy of the programs next to the tools, whose libraries they import. */
export async function workspace(): Promise<Workspace> {
  const path = await mkdtemp(join(home, 'work-'));
  await cp(join(import.meta.dirname, 'programs'), path, { recursive: true });
  await cp(join(root, 'packages/sandbox/openapi.yaml'), join(path, 'openapi.yaml'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
