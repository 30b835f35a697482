import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './until.ts';

/** A directory behind a server that can stop to answer, as a share does whose machine is gone. Needs `mount` and `bindfs`. */
export interface Share extends AsyncDisposable {
  /** Every call on it waits from now on. */
  hang(): void;
  /** What waits goes on. */
  answer(): void;
}

/** @param behind where the files are @param path an empty directory, at which they appear */
export async function mountShare(behind: string, path: string): Promise<Share> {
  const mark = '.share-is-mounted';
  await writeFile(join(behind, mark), '');
  // The kernel remembers nothing: each look is a question to the server.
  const server = spawn('bindfs', ['-f', '-o', 'attr_timeout=0,entry_timeout=0', behind, path], { stdio: 'ignore' });
  const ended = once(server, 'exit');
  await eventually('the share is mounted', async () => {
    if (!(await readdir(path)).includes(mark)) throw new Error(`${path} is not mounted`);
  });
  return {
    hang: () => void server.kill('SIGSTOP'),
    answer: () => void server.kill('SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      // Its end answers all that waits with an error.
      server.kill('SIGKILL');
      await ended;
      spawnSync('umount', ['-l', path]);
    },
  };
}
