import { defineConfig } from 'vitest/config';
import { SystemdReport } from '../../systemd/report.ts';

// A configuration of its own, as for the tests of the service: these install a release on machines (`npm run test:release`).
export default defineConfig({
  test: {
    name: 'release',
    include: ['test/release/install/*.systemd.test.ts', 'test/release/*.systemd.test.ts'],
    globalSetup: ['test/release/install/global-setup.ts'],
    reporters: ['default', new SystemdReport('build/install-report.md')],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 900_000,
  },
});
