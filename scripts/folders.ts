import { arrows } from '../oxlint.config.ts';

/**
 * @returns docs/folders.mmd: the folders of `src/` and which imports which, from the rules of the linter. An arrow that follows from
 *   others is left out; a dotted one is for types alone.
 */
export function foldersDiagram(): string {
  const lines = Object.entries(arrows).flatMap(([folder, { uses, types = [] }]) => [
    ...uses
      .filter((other) => !uses.some((between) => between !== other && reaches(between, other)))
      .map((other) => `  ${folder} --> ${other}`),
    ...types
      .filter((other) => ![...uses, ...types].some((between) => between !== other && reaches(between, other)))
      .map((other) => `  ${folder} -.-> ${other}`),
  ]);
  return ['flowchart LR', ...lines, ''].join('\n');
}

/** Whether there is a way from one folder to another along imports of values. */
function reaches(from: string, to: string): boolean {
  return from === to || (arrows[from]?.uses ?? []).some((next) => reaches(next, to));
}
