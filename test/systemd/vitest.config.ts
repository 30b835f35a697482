import { defineConfig } from 'vitest/config';
import { SystemdReport } from './report.ts';

// A configuration of its own: these tests boot machines, which is not for everybody and every run (`npm run test:systemd`).
export default defineConfig({
  test: {
    name: 'systemd',
    include: ['test/systemd/*.systemd.test.ts'],
    reporters: ['default', new SystemdReport('build/systemd-report.md')],
    // One machine at a time: what is measured are times, and the tests of a machine follow from one another.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 900_000,
  },
});
