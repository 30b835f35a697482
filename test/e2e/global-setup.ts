import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { programFiles } from '../../scripts/package/contents.ts';
import { writeTree } from '../../scripts/package/packaged-file.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Main file of the bundled program. */
    program: string;
  }
}

/**
 * Makes the program as the package has it, once for all end-to-end tests. Starting it takes a third of the processor time
 * that the sources take, and these tests start it some 300 times. README and launcher are tested with the sources.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'dropcast-program-'));
  const { files } = await programFiles(join(import.meta.dirname, '../..'));
  await writeTree(files, folder, 0); // makes the folder readable for the other users that some tests run it as
  project.provide('program', join(folder, 'usr/lib/dropcast/dist/main.js'));
  return () => rm(folder, { recursive: true, force: true });
}
