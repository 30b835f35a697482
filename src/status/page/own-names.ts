import type { Context, HonoRequest } from 'hono';
import type { Admission, Webhook } from '../../host/admit-webhook.ts';
import { limitedBody } from '../../http/limited-body.ts';

/**
 * Whether a request's Host header names this page: by an IP address, `localhost`, or one of these names. With DNS
 * rebinding, a foreign site makes its own name resolve to this machine.
 *
 * @param names without port
 */
export function isOwnHost(header: string, names: readonly string[]): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  return (
    name === 'localhost' ||
    names.some((own) => own.toLowerCase() === name) ||
    /^\[[\da-f:.]+\]$|^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)
  );
}

/**
 * Whether another site's page makes the request, as reported by the browser. Following a link to this page is allowed.
 */
export function isFromElsewhere(request: HonoRequest, names: readonly string[]): boolean {
  const origin = request.header('origin');
  if (origin !== undefined && !(URL.canParse(origin) && isOwnHost(new URL(origin).host, names))) return true;
  return request.header('sec-fetch-site') === 'cross-site' && request.header('sec-fetch-mode') !== 'navigate';
}

/**
 * Whether this page sent the form. Another port of the machine may belong to another user, and browsers send it the
 * same cookies. Every header present of `Origin` and `Sec-Fetch-Site` must match, and at least one must be present.
 */
export function isFromThisPage(request: HonoRequest): boolean {
  const origin = request.header('origin');
  const site = request.header('sec-fetch-site');
  if (origin === undefined && site === undefined) return false;
  const isOwnOrigin =
    origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.header('host')?.toLowerCase());
  return isOwnOrigin && (site === undefined || site === 'same-origin');
}

type Refusal = readonly [status: 401 | 404 | 413, text: string];

export const TOO_LONG: Refusal = [413, 'The body is larger than 64 KiB.\n'];

/** POST /webhooks: open to everyone, because the signature authenticates the sender. */
export async function takeWebhook(context: Context, receive: (webhook: Webhook) => Admission): Promise<Response> {
  const body = await limitedBody(context.req.raw);
  if (body === null) {
    const [status, text] = TOO_LONG;
    return context.text(text, status, { connection: 'close' });
  }
  const refusal = refusalOf(receive({ headers: context.req.raw.headers, body }));
  return refusal === null ? context.body(null, 204) : context.text(refusal[1], refusal[0]);
}

/**
 * @returns null when the webhook counts, or may count once its body is read. A repeated webhook counts too: its first
 *   response was lost, and the service may otherwise stop retrying.
 */
export function refusalOf(admission: Admission): Refusal | null {
  if (admission === 'taken' || admission === 'repeated' || admission === 'unread') return null;
  return admission === 'not wanted'
    ? [404, 'Webhooks are off: service.webhook_secret is not set.\n']
    : [401, 'The signature is missing, wrong or too old.\n'];
}
