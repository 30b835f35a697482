import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The Node that comes with the package, so that the machine needs none and its updates break nothing. */
export interface PrivateNode {
  readonly binary: Uint8Array;
  readonly version: string;
  /** Node's licence with those of all that is in it. */
  readonly licence: string;
}

/**
 * The Node that package-lock.json locks for this machine, without its symbols: 150 MB become 116, and nothing at run
 * time needs them.
 *
 * @throws when it was not installed
 */
export async function privateNode(root: string): Promise<PrivateNode> {
  const home = nodeHome(root);
  const { version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string };
  const licence = await readFile(join(home, 'LICENSE'), 'utf8');
  return { binary: await stripped(join(home, 'bin/node')), version, licence };
}

function nodeHome(root: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  try {
    return dirname(createRequire(join(root, 'package.json')).resolve(`${name}/package.json`));
  } catch (error) {
    throw new Error(`${name} is not in node_modules: run npm ci, without --omit=optional`, { cause: error });
  }
}

async function stripped(file: string): Promise<Uint8Array> {
  const scratch = await mkdtemp(join(tmpdir(), 'dropcast-package-'));
  try {
    const copy = join(scratch, 'node'); // never the file itself: npm hard-links it out of its cache
    await copyFile(file, copy);
    await run('strip', ['--strip-all', '--remove-section=.comment', '--remove-section=.note', copy]);
    return await readFile(copy);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
