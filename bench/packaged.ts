import { join } from 'node:path';
import type { Build } from './bench.ts';
import { output } from './child.ts';

/**
 * The program as the Debian package installs it, in a folder. Made by the build's own scripts.
 *
 * @returns the path of its `main.js`
 */
export async function packageOf({ node, root }: Build, folder: string): Promise<string> {
  const script = `
    const { programFiles } = await import(${JSON.stringify(join(root, 'scripts/package/contents.ts'))});
    const { writeTree } = await import(${JSON.stringify(join(root, 'scripts/package/packaged-file.ts'))});
    await writeTree((await programFiles(${JSON.stringify(root)})).files, ${JSON.stringify(folder)}, 0);`;
  await output(node, ['--input-type=module', '-e', script], { cwd: root });
  return join(folder, 'usr/lib/dropcast/dist/main.js');
}
