import type { MessageTarget } from '../../../config/notify-config.ts';
import type { Envelope } from '../message.ts';
import { sendHttp } from './http.ts';
import type { Attempt, Sent } from './sent.ts';

/** POST of JSON: `title`, `body` and `type` as an Apprise API takes them; the rest for programs. */
export function sendWebhook(
  { url, token, headers }: Extract<MessageTarget, { type: 'webhook' }>,
  message: Envelope,
  attempt: Attempt,
): Promise<Sent> {
  const revealed = Object.entries(headers).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value.reveal(),
  ]);
  return sendHttp(
    {
      url: url.reveal(),
      method: 'POST',
      headers: {
        ...(token !== null && { authorization: `Bearer ${token.reveal()}` }),
        ...Object.fromEntries(revealed),
      },
      json: asJson(message),
      secrets: [url.reveal(), token?.reveal() ?? null, ...revealed.map(([, value]) => value)],
    },
    attempt,
  );
}

/** What programs get: by webhook, and on the standard input of a command. */
export function asJson(message: Envelope): Readonly<Record<string, unknown>> {
  const { title, body, type, level, cause, at, count, files, id, isRepeat } = message;
  return {
    v: 1,
    title,
    body,
    type: type === 'recovered' || type === 'live' ? 'success' : level === 'warn' ? 'warning' : 'info',
    event: type,
    cause,
    at: new Date(at).toISOString(),
    count,
    files,
    id,
    repeat: isRepeat,
  };
}
