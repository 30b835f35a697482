import { newsKinds } from '@dropcast/notify/target';
import type { NewsKind, NotifyTarget } from '@dropcast/notify/target';
import { z } from 'zod';
import { parseSmtp, SMTP_FORM } from './addresses.ts';
import { parseWindow, parseTimeOfDay, TIME_FORM, WINDOW_FORM } from './day-window.ts';
import { duration, headerName, parsed, secret, text } from './schema-values.ts';

/** Notification kinds that are on by default: all but `live` and `daily`, which are sent even when all is well. */
export const usualKinds: NewsKind[] = newsKinds.filter((kind) => kind !== 'live' && kind !== 'daily');

const name = text
  .regex(/^[\w.-]{1,40}$/, 'a name may have letters, digits, . _ and -, at most 40')
  .optional()
  .describe('Name of the target in logs and in `dropcast notify test`. Default: its type. Each name must be unique.');

const common = {
  name,
  on: z
    .array(z.enum(newsKinds))
    .min(1, 'needs at least one kind of news; remove on to get the default ones')
    // The same array each time: a target of folders that does not ask for news is recognised by it.
    .default(() => usualKinds)
    .describe(
      'Which notifications to send: live, needs_you, recovered, folder_away, host_silent, paused, key_refused, feed_failed, budget, missing, daily. Default: all but live and daily.',
    ),
  quiet: parsed(WINDOW_FORM, parseWindow, { examples: ['22:00-07:00'] })
    .optional()
    .describe(
      'Quiet hours in local time, like "22:00-07:00". Nothing is sent in them; one message afterwards summarizes the news.',
    ),
  daily_at: parsed(TIME_FORM, parseTimeOfDay, { examples: ['20:00'] })
    .prefault('20:00')
    .describe('When to send the daily receipt, in local time. Requires daily in on.'),
  idle_days: z
    .boolean()
    .prefault(false)
    .describe('Whether to send the daily receipt even for a day on which nothing happened.'),
};

type Common = z.output<z.ZodObject<typeof common>>;

function messages(target: Common & { readonly type: string; readonly timeout: number }) {
  const { type, name: given = type, timeout: timeoutMs, on, quiet, daily_at: at, idle_days: isForIdleDays } = target;
  return { name: given, timeoutMs, on, quiet: quiet ?? null, daily: { at, isForIdleDays } };
}

const timeout = duration('30s', 'How long to wait for an answer.', { min: '1s', max: '5m' });

const webhook = z
  .strictObject({
    type: z.literal('webhook'),
    url: secret(
      'address',
      'Address for POST requests with JSON; written like the key (!file, !env, !credential), or as plain text.',
    ),
    token: secret('token', 'Sent as "Authorization: Bearer TOKEN". Written like the key.').optional(),
    headers: z
      .record(headerName, secret('header'))
      .prefault({})
      .describe('Additional headers. Write a secret value like the key.'),
    timeout,
    ...common,
  })
  .transform(({ type, url, token = null, headers, ...others }): NotifyTarget => ({
    ...messages({ type, ...others }),
    type,
    url,
    token,
    headers,
  }));

const ntfy = z
  .strictObject({
    type: z.literal('ntfy'),
    url: z
      .string()
      .regex(/^https?:\/\/[^\s?#@]+$/, 'not a web address; write it like https://ntfy.example.com')
      .prefault('https://ntfy.sh')
      .describe('Address of the ntfy server.'),
    topic: secret(
      'topic',
      'The topic; written like the key, or as plain text. Anyone who knows it can read the messages.',
    ),
    token: secret('token', 'Access token of the server. Written like the key.').optional(),
    priority: z
      .enum(['auto', 'min', 'low', 'default', 'high', 'max'])
      .prefault('auto')
      .describe('auto is high for problems, and low for live files.'),
    timeout,
    ...common,
  })
  .transform(({ type, url, topic, token = null, priority, ...others }): NotifyTarget => ({
    ...messages({ type, ...others }),
    type,
    url: url.replace(/\/+$/, ''),
    topic,
    token,
    priority,
  }));

const email = z
  .strictObject({
    type: z.literal('email'),
    smtp: parsed(SMTP_FORM, parseSmtp, {
      examples: ['smtps://mail.example.com', 'smtp://mail.example.com:587'],
    }).describe(
      'The mail server: smtps:// is TLS from the first byte (port 465), smtp:// is STARTTLS (port 587; on loopback port 25 without TLS).',
    ),
    tls: z
      .enum(['auto', 'off'])
      .prefault('auto')
      .describe('off sends everything in plain text, for a server without TLS on your own network.'),
    user: text.optional().describe('User name on the mail server.'),
    password: secret('password', 'Written like the key.').optional(),
    from: text.describe('Sender, like dropcast@example.com.'),
    to: z.array(text).min(1, 'needs at least one recipient').describe('Recipients.'),
    timeout,
    ...common,
  })
  .transform(({ type, smtp, tls, user = null, password = null, from, to, ...others }): NotifyTarget => ({
    ...messages({ type, ...others }),
    type,
    smtp: tls === 'off' ? { ...smtp, security: 'plain' } : smtp,
    user,
    password,
    from,
    to,
  }));

const command = z
  .strictObject({
    type: z.literal('command'),
    command: z
      .array(text)
      .min(1, 'needs a program')
      .refine(([program = '']) => program.startsWith('/') || program.startsWith('~/'), {
        path: [0],
        message: 'write the absolute path of the program',
      })
      .describe(
        'Program and arguments, started without a shell for each message, with the message as JSON on its standard input.',
      ),
    timeout,
    ...common,
  })
  .transform(({ type, command: argv, ...others }): NotifyTarget => ({ ...messages({ type, ...others }), type, argv }));

const heartbeat = z
  .strictObject({
    type: z.literal('heartbeat'),
    url: secret(
      'address',
      'Address to GET while dropcast works, like one from Healthchecks.io or Uptime Kuma; written like the key, or as plain text.',
    ),
    every: duration('5m', 'How often.', { min: '10s', max: '24h' }),
    fail: z
      .string()
      .regex(/^(?:off|[/?]\S*)$/, 'write a path like /fail, a query like "?status=down", or off')
      .prefault('/fail')
      .describe(
        'Requested instead while a folder is away, the service does not answer, or the key is refused. A path is appended to the address; a query replaces its query; off sends no request then.',
      ),
    timeout,
    name,
  })
  .transform(({ type, name: given = type, url, every: everyMs, fail, timeout: timeoutMs }): NotifyTarget => ({
    type,
    name: given,
    url,
    everyMs,
    fail: fail === 'off' ? null : fail,
    timeoutMs,
  }));

/** The list of notification targets. */
export const notify = z.array(
  z.discriminatedUnion('type', [webhook, ntfy, email, command, heartbeat], {
    error: (issue) =>
      issue.code === 'invalid_union' ? 'must be webhook, ntfy, email, command or heartbeat' : undefined,
  }),
);
