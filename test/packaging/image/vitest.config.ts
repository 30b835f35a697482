import { defineConfig } from 'vitest/config';

// A configuration of its own: this builds an image, which is not for everybody and every run (`npm run test:container`).
export default defineConfig({
  test: {
    name: 'container',
    include: ['test/packaging/image/*.container.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 900_000,
  },
});
