import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { isTherePostgres } from './test/support/postgres/programs.ts';
import { SkippedReporter } from './test/support/skipped-reporter.ts';
import { SlowKindsFirst } from './test/support/slow-kinds-first.ts';

const project = (name: string, include: string | readonly string[], extra: object) => ({
  extends: true as const,
  test: { name, include: [include].flat(), ...extra },
});

// Timeouts only end what hangs; a busy machine may take many times longer than a quiet one.
const patient = { testTimeout: 600_000, hookTimeout: 600_000 };
/** For tests that start processes. */
const processes = { setupFiles: ['test/support/child-processes.ts'], globalSetup: ['test/support/global-setup.ts'] };
/** For files that share a worker. */
const asFound = 'test/support/worker-as-found.ts';

/** Files that replace a module. In a worker that has loaded it for another file, they would replace nothing. */
const replacing = globSync('test/**/*.integration.test.ts', { cwd: import.meta.dirname }).filter((file) =>
  readFileSync(new URL(file, import.meta.url), 'utf8').includes('vi.mock('),
);

/** What is built and packed for others: `npm run test:packages`. */
const packed = ['test/packages/*.e2e.test.ts', 'test/scripts/package/*.{integration,e2e}.test.ts'];

/** Kills, faults, planted bugs and simulated lives of whole daemons: `npm run test:reliability`. */
const proofs = 'test/reliability/**/*.{integration,e2e}.test.ts';
const proofsWithPostgres = globSync('test/reliability/**/*.pg.test.ts', { cwd: import.meta.dirname });

/** Of a fleet: `npm run test:fleet`. Needs a PostgreSQL server. */
const withPostgres = globSync(['test/**/*.pg.test.ts', 'test/docs/fleet-commands.e2e.test.ts'], {
  cwd: import.meta.dirname,
  exclude: proofsWithPostgres,
});
const ifPostgres = (files: readonly string[]): readonly string[] => (isTherePostgres() ? files : []);

export default defineConfig({
  test: {
    reporters: [
      'default',
      new SkippedReporter(isTherePostgres() ? {} : { postgres: withPostgres, reliability: proofsWithPostgres }),
    ],
    // End-to-end tests mostly wait: with as many workers as processors, processors would be idle.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: SlowKindsFirst },
    projects: [
      // Modules are loaded once per worker, not once per file: a file leaves its worker as it found it.
      project('unit', 'test/**/!(*.integration|*.e2e|*.systemd|*.container|*.pg).test.ts', {
        ...patient,
        isolate: false,
        setupFiles: [asFound],
      }),
      project('integration', 'test/**/*.integration.test.ts', {
        ...patient,
        ...processes,
        isolate: false,
        setupFiles: [asFound, ...processes.setupFiles],
        exclude: [...replacing, ...packed, proofs],
      }),
      project('integration, isolated', replacing, { ...patient, ...processes }),
      project('e2e', 'test/**/*.e2e.test.ts', {
        ...patient,
        ...processes,
        exclude: [...packed, proofs, ...withPostgres],
        maxConcurrency: 10,
        globalSetup: [...processes.globalSetup, 'test/e2e/global-setup.ts'],
      }),
      project('reliability', [proofs, ...ifPostgres(proofsWithPostgres)], {
        ...patient,
        ...processes,
        maxConcurrency: 10,
        globalSetup: [...processes.globalSetup, 'test/e2e/global-setup.ts'],
      }),
      // They share one PostgreSQL server, each with its own database; without one they are skipped, and the run says so.
      project('postgres', ifPostgres(withPostgres), {
        ...patient,
        ...processes,
        globalSetup: [...processes.globalSetup, 'test/e2e/global-setup.ts', 'test/support/postgres/global-setup.ts'],
      }),
      project('packages', packed, {
        ...patient,
        ...processes,
        globalSetup: [...processes.globalSetup, 'test/e2e/global-setup.ts'],
      }),
    ],
  },
});
