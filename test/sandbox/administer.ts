import type { Json, RunningSandbox } from './running-sandbox.ts';

/** Asks the admin side. @param path below /_sandbox */
export async function administer(
  { sandbox }: Pick<RunningSandbox, 'sandbox'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Json }> {
  const response = await fetch(sandbox.adminUrl + path, {
    method,
    headers: { authorization: `Bearer ${sandbox.adminToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}
