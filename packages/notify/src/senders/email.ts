import { Socket } from 'node:net';
import { connectionAdvice } from '@dropcast/client';
import { createTransport } from 'nodemailer';
import type { MessageTarget } from '../target.ts';
import { textOf } from '../message.ts';
import type { Envelope } from '../message.ts';
import { failed, quoted } from './sent.ts';
import type { Attempt, Sent } from './sent.ts';

type EmailTarget = Extract<MessageTarget, { type: 'email' }>;

/** Sends an email over a new connection, and leaves no connection open. */
export async function sendEmail(target: EmailTarget, message: Envelope, attempt: Attempt): Promise<Sent> {
  const { user, password, from, to, smtp } = target;
  // A socket of our own can be destroyed; closing the transport would wait for a silent server.
  const socket = new Socket();
  const transport = createTransport({
    socket,
    host: smtp.host,
    port: smtp.port,
    secure: smtp.security === 'tls',
    requireTLS: smtp.security === 'starttls',
    ignoreTLS: smtp.security === 'plain',
    tls: { rejectUnauthorized: true },
    ...(user !== null && { auth: { user, pass: password?.reveal() ?? '' } }),
    connectionTimeout: Math.min(attempt.timeoutMs, 10_000),
    greetingTimeout: Math.min(attempt.timeoutMs, 10_000),
    socketTimeout: attempt.timeoutMs,
    // A message must not make nodemailer read a file or fetch an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const limit = AbortSignal.any([attempt.signal, AbortSignal.timeout(attempt.timeoutMs)]);
  const cut = Promise.withResolvers<never>();
  const onAbort = (): void => cut.reject(new Error('cut'));
  limit.addEventListener('abort', onAbort, { once: true });
  try {
    if (limit.aborted) onAbort();
    const sending = transport.sendMail({ from, to: [...to], ...mailOf(message) });
    // Sending continues after the limit; its result is ignored.
    sending.catch(() => undefined);
    const { response } = await Promise.race([sending, cut.promise]);
    return { ok: true, answer: `answered ${quoted(response, [password?.reveal()])}` };
  } catch (error) {
    if (attempt.signal.aborted) return failed('dropcast was stopped', { mayHaveArrived: true });
    if (limit.aborted)
      return failed(`no answer within ${Math.round(attempt.timeoutMs / 1000)} s`, { mayHaveArrived: true });
    return failureOf(error, target);
  } finally {
    limit.removeEventListener('abort', onAbort);
    transport.close();
    // A socket that was destroyed while connecting may still connect.
    socket.on('error', () => undefined).on('connect', () => socket.destroy());
    socket.destroy();
  }
}

function mailOf(message: Envelope): {
  subject: string;
  text: string;
  messageId: string;
  headers: Record<string, string>;
} {
  const { title, id, isRepeat, host } = message;
  const repeat = isRepeat ? ['', 'This message may be a repeat: the mail server did not confirm the first one.'] : [];
  return {
    // nodemailer sends an encoded word (RFC 2047) in a file name unchanged, and the reader's program would decode it.
    subject: `[dropcast ${host}] ${title}`.replaceAll('=?', '=\u200B?'),
    text: [textOf(message), ...repeat].join('\n'),
    messageId: `<${id}@dropcast>`,
    // Suppresses vacation replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

interface SmtpError {
  readonly code?: string;
  readonly response?: string;
  readonly responseCode?: number;
  readonly command?: string;
}

function failureOf(error: unknown, { password, smtp }: EmailTarget): Sent {
  const { code = '', response, responseCode, command } = error as SmtpError;
  const place = `${smtp.host}:${smtp.port}`;
  if (response !== undefined && responseCode !== undefined) {
    const said = quoted(response, [password?.reveal()]);
    // Only a refused message counts; a refused login or sender needs a person.
    return failed(`${place} answered ${said}`, { isRefusal: responseCode >= 500 && command === 'DATA' });
  }
  const words = ofMail[code] ?? connectionAdvice(code === '' ? 'unknown error' : code);
  return failed(`${place}: ${words}`, { mayHaveArrived: command === 'DATA' });
}

/** Descriptions of nodemailer's error codes. */
const ofMail: Readonly<Record<string, string>> = {
  EDNS: connectionAdvice('ENOTFOUND'),
  ESOCKET: 'no connection (ESOCKET)',
  ETLS: 'it offers no TLS (ETLS); write tls: off for a server without it',
};
