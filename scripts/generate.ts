import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { configJsonSchemaText } from '../src/config/json-schema.ts';
import { fileMachineDiagram } from './file-machine.ts';
import { clientReference } from './client-reference.ts';
import { contractTypes } from './contract-types.ts';
import { foldersDiagram } from './folders.ts';
import { leftAlonePage } from './left-alone-names.ts';
import { sandboxProfiles } from './sandbox-profiles.ts';
import { templateUnit } from './template-unit.ts';

/** A file of the repository that is made from the code: never edited by hand. */
export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  content(): string | Promise<string>;
}

export const generatedFiles: readonly GeneratedFile[] = [
  { path: 'config.schema.json', content: configJsonSchemaText },
  { path: 'docs/client-reference.md', content: clientReference },
  { path: 'docs/folders.mmd', content: foldersDiagram },
  { path: 'docs/file-machine.mmd', content: fileMachineDiagram },
  { path: 'docs/left-alone-names.md', content: leftAlonePage },
  { path: 'docs/sandbox-profiles.md', content: sandboxProfiles },
  { path: 'packages/sandbox/src/contract/types.gen.ts', content: contractTypes },
  { path: 'systemd/dropcast@.service', content: templateUnit },
];

/** The paths of the files that are not what the code makes of them. */
export async function staleFiles(files: readonly GeneratedFile[], root: string): Promise<string[]> {
  const states = await Promise.all(files.map((file) => isStale(file, root)));
  return files.filter((_, index) => states[index]).map(({ path }) => path);
}

async function isStale(file: GeneratedFile, root: string): Promise<boolean> {
  const current = await readFile(resolve(root, file.path), 'utf8').catch(() => null);
  return current !== (await file.content());
}

/**
 * `npm run generate` writes every generated file, `npm run generate -- --check` only says which are stale (exit code
 * 1).
 */
async function main(args: readonly string[]): Promise<void> {
  const root = resolve(import.meta.dirname, '..');
  const stale = await staleFiles(generatedFiles, root);
  if (args.includes('--check')) {
    for (const path of stale) console.error(`${path} is stale; run: npm run generate`);
    process.exitCode = stale.length === 0 ? 0 : 1;
    return;
  }
  for (const file of generatedFiles.filter(({ path }) => stale.includes(path))) {
    await writeFile(resolve(root, file.path), await file.content());
    console.error(`${file.path} written`);
  }
}

if (import.meta.main) await main(process.argv.slice(2));
