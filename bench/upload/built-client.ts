import { glob, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The client of a checkout as JavaScript, as it is published: stripping types takes 40 MB, and WebAssembly, which
 * `--jitless` has not.
 *
 * @param folder where it is put
 * @returns the path of its module
 */
export async function builtClient(root: string, folder: string): Promise<string> {
  const from = join(root, 'packages/client/src');
  const to = join(folder, 'client');
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for await (const file of glob('**/*.ts', { cwd: from })) {
    const code = stripTypeScriptTypes(await readFile(join(from, file), 'utf8'));
    const target = join(to, file.replace(/\.ts$/, '.js'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, code.replaceAll(/(['"])(\.{1,2}\/[^'"]+)\.ts\1/g, '$1$2.js$1'));
  }
  return join(to, 'index.js');
}
