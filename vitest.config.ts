import { defineConfig } from 'vitest/config';
import { SkippedReporter } from './test/support/skipped-reporter.ts';

const project = (name: string, include: string, extra: object = {}) => ({
  extends: true as const,
  test: { name, include: [include], ...extra },
});

export default defineConfig({
  test: {
    reporters: ['default', new SkippedReporter()],
    projects: [
      project('unit', 'test/**/!(*.integration|*.e2e|*.systemd).test.ts', { testTimeout: 20_000 }),
      project('integration', 'test/**/*.integration.test.ts', { testTimeout: 30_000 }),
      project('e2e', 'test/**/*.e2e.test.ts', { testTimeout: 180_000, hookTimeout: 60_000, maxWorkers: 3 }),
    ],
  },
});
