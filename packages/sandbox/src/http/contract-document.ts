import { readFile } from 'node:fs/promises';
import { Hono } from 'hono';
import { packageFile } from '../package-files.ts';
import { ApiError } from './api-error.ts';

/** GET /openapi.yaml: the contract of this very version, for tools that read one. Without a key, as it says nothing of the account. */
export function createContractRoutes(): Hono {
  const routes = new Hono();
  routes.get('/openapi.yaml', async (context) =>
    context.body(await readFile(packageFile('openapi.yaml')), 200, { 'Content-Type': 'application/yaml' }),
  );
  routes.all('/openapi.yaml', () => {
    throw new ApiError('method_not_allowed', 'The contract can only be read.', { Allow: 'GET, HEAD' });
  });
  return routes;
}
