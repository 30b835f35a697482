import { arrows, homes, packages } from '../oxlint.config.ts';

/**
 * @returns docs/folders.mmd: the folders of `src/` and the packages, and which imports which, from the rules of the
 *   linter. An arrow that follows from others is left out; a dotted one is for types alone.
 */
export function foldersDiagram(): string {
  const lines = Object.entries(imports).flatMap(([folder, { uses, types = [] }]) => [
    ...uses
      .filter((other) => !uses.some((between) => between !== other && reaches(between, other)))
      .map((other) => `  ${folder} --> ${other}`),
    ...types
      .filter((other) => ![...uses, ...types].some((between) => between !== other && reaches(between, other)))
      .map((other) => `  ${folder} -.-> ${other}`),
  ]);
  return ['flowchart LR', ...lines, ''].join('\n');
}

/** The arrows between folders, and those to packages, which are imported by name. */
const imports = Object.fromEntries(
  [...Object.entries(arrows), ...packages.map((name) => [`packages/${name}`, { uses: [] }] as const)].map(
    ([folder, { uses, ...types }]): [string, (typeof arrows)[string]] => {
      const imported = packages.filter((name) => homes[`@dropcast/${name}`]?.includes(folder));
      return [folder, { uses: [...uses, ...imported.map((name) => `packages/${name}`)], ...types }];
    },
  ),
);

/** Whether there is a way from one folder to another along imports of values. */
function reaches(from: string, to: string): boolean {
  return from === to || (imports[from]?.uses ?? []).some((next) => reaches(next, to));
}
