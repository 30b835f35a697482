import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory for one test. Leaving its block removes it. */
export interface ScratchDirectory extends AsyncDisposable {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** The path of something inside. */
  file(...names: readonly string[]): string;
  /** Writes a file inside and returns its path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
}

export async function scratchDirectory(): Promise<ScratchDirectory> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'dropcast-test-')));
  return {
    path,
    file: (...names) => join(path, ...names),
    write: async (name, content) => {
      const file = join(path, name);
      await writeFile(file, content);
      return file;
    },
    // A process that was just killed may have made one more file.
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  };
}
