import { defineConfig } from 'vitest/config';

// A configuration of its own: it installs 400 MB of other people's tools (`npm run test:ecosystem`).
export default defineConfig({
  test: {
    name: 'ecosystem',
    include: ['test/ecosystem/*.ecosystem.test.ts'],
    globalSetup: ['test/ecosystem/global-setup.ts'],
    setupFiles: ['test/support/child-processes.ts'],
    // They only end what hangs.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
