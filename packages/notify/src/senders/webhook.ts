import type { MessageTarget } from '../target.ts';
import { textOf } from '../message.ts';
import type { Envelope } from '../message.ts';
import { sendHttp } from './http.ts';
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
  const { title, type, level, cause, at, count, files, id, isRepeat, host, page = null } = message;
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
    page,
    files,
    id,
    repeat: isRepeat,
  };
}

const ZERO_WIDTH_SPACE = '\u200B';

/**
 * Beginnings of mentions (`@everyone`, `<!channel>`, `<@U1>`), HTML tags (`<img`), links hidden behind other words
 * (`[x](…)`, `<https://…|x>`) and link definitions (`[x]: …`).
 */
const beginnings = /@(?=[\p{L}\p{N}_])|<(?=[\p{L}!@#/?])|\](?=[([:])/gu;

/**
 * Disables mentions and links in chats that interpret HTML, Markdown or Slack's markup. A zero-width space breaks up
 * their beginnings, so the text looks the same in all of them; an escape would suit only one.
 */
function inert(text: string): string {
  return text.replace(beginnings, `$&${ZERO_WIDTH_SPACE}`);
}

const numbers = { min: 1, low: 2, default: 3, high: 4, max: 5 } as const;

/** Publishes a message as JSON (docs.ntfy.sh/publish), because headers cannot carry every character of a title. */
export function sendNtfy(
  { url, topic, token, priority }: Extract<MessageTarget, { type: 'ntfy' }>,
  message: Envelope,
  attempt: Attempt,
): Promise<Sent> {
  const { title, isRepeat } = message;
  const json = {
    topic: topic.reveal(),
    title: isRepeat ? `${title} (may be a repeat)` : title,
    message: textOf(message),
    markdown: false,
    priority: numbers[priority === 'auto' ? usualPriority(message) : priority],
  };
  return sendHttp(
    {
      url,
      method: 'POST',
      headers: token === null ? {} : { authorization: `Bearer ${token.reveal()}` },
      json,
      secrets: [topic.reveal(), token?.reveal() ?? null],
    },
    attempt,
  );
}

function usualPriority({ level, type }: Envelope): keyof typeof numbers {
  if (level === 'warn') return 'high';
  return type === 'live' || type === 'daily' ? 'low' : 'default';
}
