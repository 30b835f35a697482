import type { TestProject } from 'vitest/node';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { writeTwoVersions } from './release-tree.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of a release tree with two versions. */
    releaseTree: string;
  }
}

/** Makes one release tree for all machines. $DROPCAST_RELEASE_TREE takes one that is there. */
export async function setup(project: TestProject): Promise<() => PromiseLike<void>> {
  const scratch = await scratchDirectory();
  const tree = process.env['DROPCAST_RELEASE_TREE'] ?? scratch.file('tree');
  if (tree === scratch.file('tree')) await writeTwoVersions(tree, scratch.file('next'));
  project.provide('releaseTree', tree);
  return () => scratch[Symbol.asyncDispose]();
}
