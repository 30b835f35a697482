import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { isTherePostgres } from './test/support/postgres/programs.ts';
import { SkippedReporter } from './test/support/skipped-reporter.ts';
import { SlowKindsFirst } from './test/support/slow-kinds-first.ts';

// Timeouts only end what hangs; a busy machine may take many times longer than a quiet one.
const patient = { testTimeout: 600_000, hookTimeout: 600_000 };
/** For tests that start processes. */
const processes = { setupFiles: ['test/support/child-processes.ts'], globalSetup: ['test/support/global-setup.ts'] };
/** For files that share a worker. */
const asFound = 'test/support/worker-as-found.ts';
/** Makes the program once, as the package has it. */
const program = 'test/e2e/global-setup.ts';

/** Each part has a command of its own: CONTRIBUTING.md. Folders below `test/`; `dropcast` has all others. */
const parts = {
  dropcast: '**',
  packages: '{client/**,contract,notify/**,packages/**,pages/**,recorder/**,sandbox/**,scripts/{package,release}/**}',
  reliability: 'reliability/**',
  fleet: 'fleet/**',
} as const;
type Part = keyof typeof parts;
const othersThan = (part: Part): Part[] => (Object.keys(parts) as Part[]).filter((other) => other !== part);

const filesOf = (part: Part, names: string): string[] =>
  globSync(`test/${parts[part]}/${names}.test.ts`, {
    cwd: import.meta.dirname,
    exclude: part === 'dropcast' ? othersThan(part).map((other) => `test/${parts[other]}/*.test.ts`) : [],
  });

/** A file that replaces a module needs a worker of its own: in one that has loaded it for another file, it would replace nothing. */
const isReplacing = (file: string): boolean =>
  readFileSync(new URL(file, import.meta.url), 'utf8').includes('vi.mock(');

/** Files that need a PostgreSQL server: a project of its own, which `npm run test:fleet` runs for `dropcast`. */
const withPostgres = (part: Part): string[] => [
  ...filesOf(part, '*.pg'),
  ...(part === 'dropcast' ? ['test/docs/fleet-commands.e2e.test.ts'] : []),
];

const fleetOf = (part: Part): string => (part === 'dropcast' ? 'fleet' : `${part}/fleet`);

const project = (name: string, include: readonly string[], extra: object) => ({
  extends: true as const,
  test: { name, include: [...include], ...patient, ...extra },
});

function projectsOf(part: Part) {
  const integration = filesOf(part, '*.integration');
  return [
    // Modules are loaded once per worker, not once per file: a file leaves its worker as it found it.
    project(`${part}/unit`, filesOf(part, '!(*.integration|*.e2e|*.systemd|*.container|*.ecosystem|*.pg)'), {
      isolate: false,
      setupFiles: [asFound],
    }),
    project(
      `${part}/integration`,
      integration.filter((file) => !isReplacing(file)),
      {
        ...processes,
        isolate: false,
        setupFiles: [asFound, ...processes.setupFiles],
      },
    ),
    project(`${part}/integration, isolated`, integration.filter(isReplacing), processes),
    project(
      `${part}/e2e`,
      filesOf(part, '*.e2e').filter((file) => !withPostgres(part).includes(file)),
      {
        ...processes,
        maxConcurrency: 10,
        globalSetup: [...processes.globalSetup, program],
      },
    ),
    // They share one PostgreSQL server, each with its own database; without one they are left out, and the run says so.
    project(fleetOf(part), isTherePostgres() ? withPostgres(part) : [], {
      ...processes,
      globalSetup: [...processes.globalSetup, program, 'test/support/postgres/global-setup.ts'],
    }),
  ].filter(({ test: { include, name } }) => include.length > 0 || name === fleetOf(part));
}

const names = Object.keys(parts) as Part[];
const leftOut = isTherePostgres() ? [] : names.map((part) => [fleetOf(part), withPostgres(part)]);

export default defineConfig({
  test: {
    reporters: ['default', new SkippedReporter(Object.fromEntries(leftOut))],
    // End-to-end tests mostly wait: with as many workers as processors, processors would be idle.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: SlowKindsFirst },
    projects: names.flatMap(projectsOf),
  },
});
