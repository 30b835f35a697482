import type { Answer, RunningSandbox } from '../running-sandbox.ts';

/** Asks the admin side of the sandbox, with its token unless another header is given; a body that is no string is sent as JSON. */
export async function admin(
  { sandbox }: Pick<RunningSandbox, 'sandbox'>,
  request: `${string} ${string}`,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(sandbox.adminUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${sandbox.adminToken}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}
