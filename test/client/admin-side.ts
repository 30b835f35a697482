import type { Sandbox } from '../../packages/sandbox/src/sandbox.ts';

/** A request to the admin side of a sandbox. @returns the `data` of its answer */
export async function admin(sandbox: Sandbox, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${sandbox.adminUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${sandbox.adminToken}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.status === 204 ? undefined : ((await response.json()) as { data: unknown }).data;
}
