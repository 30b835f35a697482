import type { SmtpServer } from '@dropcast/notify/target';
import { isLoopback } from './addresses.ts';

export const SMTP_FORM = 'an address like smtps://mail.example.com or smtp://mail.example.com:587';

type Parsed = { readonly ok: true; readonly value: SmtpServer } | { readonly ok: false; readonly message: string };

/** Parses an SMTP server address. Messages never repeat the address because it may contain a password. */
export function parseSmtp(text: string): Parsed {
  if (!/^smtps?:\/\/[^/\s]+\/?$/i.test(text) || !URL.canParse(text))
    return { ok: false, message: `not a mail server; write ${SMTP_FORM}` };
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    return { ok: false, message: 'contains a user name or password; write them as user and password' };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const security = url.protocol === 'smtps:' ? 'tls' : isLoopback(host) ? 'plain' : 'starttls';
  const usual = { tls: 465, starttls: 587, plain: 25 }[security];
  return { ok: true, value: { host, port: url.port === '' ? usual : Number(url.port), security } };
}
