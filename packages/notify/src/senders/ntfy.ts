import type { MessageTarget } from '../target.ts';
import type { Envelope } from '../message.ts';
import { sendHttp } from './http.ts';
import { textOf } from './text.ts';
import type { Attempt, Sent } from './sent.ts';

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
