import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync } from 'rolldown/utils';
import type { ParseResult } from 'rolldown/utils';

/** A parsed TypeScript file. */
export interface Source {
  /** From the root of the checkout. */
  readonly path: string;
  readonly text: string;
  readonly parsed: ParseResult;
}

/** All TypeScript below a folder of a checkout, by path; none where there is no such folder. */
export function sourcesBelow(root: string, folder: string): readonly Source[] {
  const paths = globSync(`${folder}/**/*.ts`, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] });
  return paths.toSorted().map((path) => sourceOf(root, path));
}

function sourceOf(root: string, path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, parsed: parseSync(path, text) };
}

/** The paths of the files that a source imports or exports from, types included, without those of packages. */
export function importsOf({ path, parsed }: Source): readonly string[] {
  const { staticImports, staticExports } = parsed.module;
  const requests = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? [])),
  ];
  const files = requests.filter((request) => request.startsWith('.'));
  return [...new Set(files.map((file) => posix.join(posix.dirname(path), file)))];
}
