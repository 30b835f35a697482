import { defineConfig } from 'vitest/config';

// A configuration of its own: this builds an image, which is not for everybody and every run (`npm run test:container`).
export default defineConfig({
  test: {
    name: 'container',
    include: ['test/packaging/image/*.container.test.ts'],
    globalSetup: ['test/packaging/image/global-setup.ts'],
    // One file at a time: each starts what would keep a small machine busy by itself.
    fileParallelism: false,
    // They only end what hangs.
    testTimeout: 600_000,
    hookTimeout: 900_000,
  },
});
