import { execFile } from 'node:child_process';
import { appendFile, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The step that the next version adds to the schema of the ledger: a column, and an index of it. */
const plantedStep = `
  ALTER TABLE file ADD COLUMN reviewed_at INTEGER;
  CREATE INDEX file_reviewed ON file (reviewed_at) WHERE reviewed_at IS NOT NULL;
  `;

/**
 * Clones the last commit as the sources of a next version, whose ledger has one schema step more.
 *
 * @param directory must not exist; its `node_modules` is a link to that of the root
 */
export async function nextVersion(root: string, directory: string): Promise<void> {
  await run('git', ['clone', '--quiet', '--shared', root, directory]);
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
  await appendFile(join(directory, '.git/info/exclude'), 'node_modules\n');
  await edit(join(directory, 'src/ledger/sqlite/migrations.ts'), '`,\n];\n', `\`,\n  \`${plantedStep}\`,\n];\n`);
  await edit(join(directory, 'src/ledger/row.ts'), "new Set(['failure'])", "new Set(['failure', 'reviewed_at'])");
  const author = ['-c', 'user.name=dropcast', '-c', 'user.email=dropcast@localhost'];
  await run('git', [...author, 'commit', '--quiet', '--all', '--message', 'One more step'], { cwd: directory });
}

async function edit(file: string, before: string, after: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  if (!text.includes(before)) throw new Error(`${file} has no ${before}`);
  await writeFile(
    file,
    text.replace(before, () => after),
  );
}
