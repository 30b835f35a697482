import { defineConfig } from 'orval';

export default defineConfig({
  dropcast: {
    input: './openapi.yaml',
    output: {
      target: './orval.gen.ts',
      client: 'fetch',
      override: { mutator: { path: './orval-request.ts', name: 'request' } },
    },
  },
});
