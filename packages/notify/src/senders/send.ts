import type { MessageTarget, NotifyTarget } from '../target.ts';
import type { Envelope } from '../message.ts';
import { sendToCommand } from './command.ts';
import type { Attempt, Sent } from './sent.ts';
import { sendWebhook, sendNtfy } from './webhook.ts';

/** Sends one message to a target. Never throws. */
export type Send = (target: MessageTarget, message: Envelope, signal: AbortSignal) => Promise<Sent>;

/** @param env environment of the process, from which commands get some variables */
export function createSend(env: Readonly<Record<string, string | undefined>>): Send {
  return async (target, message, signal) => {
    const attempt: Attempt = { timeoutMs: target.timeoutMs, signal };
    switch (target.type) {
      case 'webhook':
        return sendWebhook(target, message, attempt);
      case 'ntfy':
        return sendNtfy(target, message, attempt);
      case 'email':
        // Loaded on first use, because most installations send no email.
        return (await import('./email.ts')).sendEmail(target, message, attempt);
      case 'command':
        return sendToCommand(target, message, attempt, env);
      default:
        return target satisfies never;
    }
  };
}

/** Returns the location of a target for people, without secrets. */
export function placeOf(target: NotifyTarget): string {
  switch (target.type) {
    case 'webhook':
    case 'heartbeat':
      return originOf(target.url.reveal());
    case 'ntfy':
      return originOf(target.url);
    case 'email':
      return `${target.to.join(', ')} via ${target.smtp.host}:${target.smtp.port}`;
    case 'command':
      return target.argv[0] ?? '';
    default:
      return target satisfies never;
  }
}

function originOf(address: string): string {
  return URL.canParse(address) ? `${new URL(address).origin}/…` : 'an address';
}
