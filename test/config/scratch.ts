import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatProblem, loadConfig, type Loaded, type Surroundings } from '../../src/config/load.ts';

/** A directory for one test, gone after it. */
export interface Scratch extends AsyncDisposable {
  readonly path: string;
  readonly around: Surroundings;
  write(name: string, content: string | Uint8Array, mode?: number): Promise<string>;
  load(content: string | Uint8Array, env?: Surroundings['env']): Promise<Loaded>;
  /** The problems as an operator reads them. */
  problems(content: string | Uint8Array, env?: Surroundings['env']): Promise<string[]>;
}

export async function scratch(): Promise<Scratch> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'dropcast-config-')));
  const around = { env: { KEY: 'abc' }, cwd: path, home: join(path, 'home') };
  const write = async (name: string, content: string | Uint8Array, mode = 0o600): Promise<string> => {
    const file = join(path, name);
    await writeFile(file, content);
    await chmod(file, mode);
    return file;
  };
  const load = async (content: string | Uint8Array, env?: Surroundings['env']): Promise<Loaded> =>
    loadConfig(await write('dropcast.yaml', content), env === undefined ? around : { ...around, env });
  return {
    path,
    around,
    write,
    load,
    problems: async (content, env) =>
      (await load(content, env)).problems.map((problem) => formatProblem(problem, path).replaceAll(path, '')),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
