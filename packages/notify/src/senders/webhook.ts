import type { MessageTarget } from '../target.ts';
import type { Envelope } from '../message.ts';
import { sendHttp } from './http.ts';
import { inert, textOf } from './text.ts';
import type { Attempt, Sent } from './sent.ts';

/** Posts JSON: `title`, `body` and `type` as an Apprise API expects them, the rest for programs. */
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

/**
 * Returns the JSON document for programs: the body of a webhook, or the standard input of a command. Most programs pass
 * `title` and `body` on to a chat, so mentions and links in both are disabled.
 */
export function asJson(message: Envelope): Readonly<Record<string, unknown>> {
  const { title, type, level, cause, at, count, files, id, isRepeat, host } = message;
  return {
    v: 1,
    title: inert(title),
    body: inert(textOf(message)),
    // An Apprise API escapes text for the targets that display HTML.
    format: 'text',
    type: type === 'recovered' || type === 'live' ? 'success' : level === 'warn' ? 'warning' : 'info',
    event: type,
    cause,
    at: new Date(at).toISOString(),
    count,
    host,
    files,
    id,
    repeat: isRepeat,
  };
}
