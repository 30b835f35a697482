import { defineConfig } from 'vitest/config';
import { SkippedReporter } from './test/support/skipped-reporter.ts';

const project = (name: string, include: string, extra: object = {}) => ({
  extends: true as const,
  test: { name, include: [include], ...extra },
});

const setupFiles = ['test/support/child-processes.ts'];

export default defineConfig({
  test: {
    reporters: ['default', new SkippedReporter()],
    projects: [
      project('unit', 'test/**/!(*.integration|*.e2e|*.systemd).test.ts', { testTimeout: 20_000 }),
      project('integration', 'test/**/*.integration.test.ts', { testTimeout: 30_000, setupFiles }),
      project('e2e', 'test/**/*.e2e.test.ts', {
        testTimeout: 300_000,
        hookTimeout: 300_000,
        maxWorkers: 3,
        setupFiles,
        globalSetup: ['test/e2e/global-setup.ts'],
      }),
    ],
  },
});
