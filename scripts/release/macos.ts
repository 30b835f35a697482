import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { programFiles } from '../package/contents.ts';
import type { PackagedFile } from '../package/packaged-file.ts';
import { macNode } from '../package/private-node.ts';
import { writeTarball } from './tarball.ts';

/**
 * Writes the tarball for macOS: program, Node.js, launch agent and instructions. Experimental: no Mac has run it.
 *
 * @returns the file
 */
export async function writeMacTarball(
  root: string,
  out: string,
  of: {
    readonly version: string;
    readonly arch: 'arm64' | 'x64';
    readonly epochSeconds: number;
    /** Files of the Debian package, whose manual pages and licences are in the tarball too. */
    readonly packaged: readonly PackagedFile[];
  },
): Promise<string> {
  const home = `dropcast-${of.version}`;
  const node = await macNode(root, of.arch);
  const { files } = await programFiles(root);
  const own = of.packaged.filter(({ path }) => /^usr\/share\/(?:man|doc\/dropcast\/copyright)/.test(path));
  const agent = join(root, 'packaging/macos');
  const agents = (await readdir(agent)).map(async (name) => ({
    path: `${home}/${name}`,
    content: await readFile(join(agent, name)),
  }));
  const tree: readonly PackagedFile[] = [
    ...files.map((file) => ({ ...file, path: file.path.replace(/^usr\/lib\/dropcast/, `${home}/lib/dropcast`) })),
    ...own.map((file) => ({ ...file, path: file.path.replace(/^usr/, home) })),
    ...(await Promise.all(agents)),
    { path: `${home}/lib/dropcast/bin/node`, content: node.binary, mode: 0o755 },
    { path: `${home}/lib/dropcast/bin/LICENSE.node`, content: node.licence },
    { path: `${home}/bin/dropcast`, content: launcher, mode: 0o755 },
    { path: `${home}/LICENSE`, content: await readFile(join(root, 'LICENSE')) },
  ];
  const output = join(out, 'macos', `dropcast-${of.version}-macos-${of.arch}.tar.gz`);
  await writeTarball(tree, output, of.epochSeconds);
  return output;
}

/** Finds its own folder through links, as from /usr/local/bin: macOS has no `readlink -f` before version 12.3. */
const launcher = `#!/bin/sh
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in /*) self=$target ;; *) self=$(dirname "$self")/$target ;; esac
done
home=$(cd "$(dirname "$self")/.." && pwd)
exec "$home/lib/dropcast/bin/node" --disable-warning=ExperimentalWarning "$home/lib/dropcast/dist/main.js" "$@"
`;
