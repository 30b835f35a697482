import { z } from 'zod';
import { LISTEN_FORM, parseBaseUrl, parseListen, parseOrigin } from './addresses.ts';
import { parseBandwidthHours } from './bandwidth-hours.ts';
import type { BandwidthHours } from './bandwidth-hours.ts';
import { parseUploadWindow, WINDOW_FORM } from './day-window.ts';
import { DURATION_FORM, LONGEST, parseDuration, parsePercent, PERCENT_FORM } from './units.ts';

/** What a folder includes by default. */
export const DEFAULT_INCLUDE = '**/*.{mp4,mov,m4v,mkv,webm,avi,mpg,mpeg,ts,m2ts,mxf,mp3,m4a,wav,flac}';

type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** Text that `parse` turns into what the program works with. Editors see the text. */
function parsed<T>(form: string, parse: (text: string) => Parsed<T>, shown: { examples: string[]; pattern?: string }) {
  return z
    .string({ error: ({ input }) => (isOtherScalar(input) ? `write ${form}` : undefined) })
    .meta(shown)
    .transform((text, context): T => {
      const result = parse(text);
      if (result.ok) return result.value;
      context.issues.push({ code: 'custom', message: result.message, input: text });
      return z.NEVER;
    });
}

interface Range {
  readonly min?: string;
  readonly max?: string;
}

function duration(normally: string, about: string, range: Range = {}) {
  return anyDuration(about, range).prefault(normally);
}

function anyDuration(about: string, { min = '10ms', max = LONGEST }: Range) {
  return parsed(DURATION_FORM, (text) => parseDuration(text, { min, max }), {
    examples: ['500ms', '5s', '2m', '24h', '7d'],
    pattern: '^[0-9]+(ms|s|m|h|d)$',
  }).describe(`${about} From ${min} to ${max}.`);
}

function count(normally: number, about: string, range: { min: number; max: number }) {
  return number(about, range).prefault(normally);
}

function number(about: string, range: { min: number; max: number }) {
  const message = `must be a whole number from ${range.min} to ${range.max}`;
  return z
    .int({ error: ({ input }) => (isOtherScalar(input) || typeof input === 'string' ? message : undefined) })
    .min(range.min, message)
    .max(range.max, message)
    .describe(about);
}

/** What YAML reads as a number or a boolean: showing the form helps. Everything else gets the message of `check-schema.ts`. */
function isOtherScalar(input: unknown): boolean {
  return typeof input === 'number' || typeof input === 'boolean';
}

const text = z.string().regex(/\S/, { error: 'must not be empty', abort: true });

/** Identifiers of the service, as they are. None contains a space, but a pasted one often has some around it. */
const identifier = text.regex(/^\S+$/, 'must not contain spaces').max(200, 'must not be longer than 200 characters');

const path = text.refine(
  (value) => !/^~[^/]/.test(value),
  '~ is only your own home; write the full path of another one',
);

const globs = z.array(text);

const rule = z.strictObject({
  match: text.describe(
    'Glob for the path relative to the folder. * and ? match within one folder, ** matches any number of folders, {a,b} is one of several, {name} captures within one path segment. The first rule that matches wins.',
  ),
  channel: identifier.describe('Identifier of the channel for the video, like ch_news.'),
  title: text
    .prefault('{title}')
    .describe('Template. Words: {title} {name} {ext} {path} {dir} {dirs} {date} and every capture of match.'),
  description: z
    .string()
    .optional()
    .describe('Template, with the same words as title. Without it, no description is sent.'),
  tags: z
    .array(text)
    .prefault([])
    .describe('Templates. A tag that is exactly "{dirs}" becomes one tag per sub-folder.'),
  publish: z
    .array(identifier)
    .prefault([])
    .describe('Identifiers of feeds to publish once the video is ready, like feed_news.'),
  priority: z
    .enum(['high', 'normal', 'low'])
    .prefault('normal')
    .describe('Files of high priority go first; the others still get a share: none waits for ever.'),
});

const deleteLater = z
  .strictObject({
    // No timer runs that long: the ledger is asked from time to time.
    after: anyDuration('How long after the file was done.', { min: '1s', max: '3650d' }).optional(),
    when_full: parsed(PERCENT_FORM, parsePercent, { examples: ['85%'], pattern: '^[1-9][0-9]?%$' })
      .optional()
      .describe('Once so much of the file system is in use: the oldest files first, until less is.'),
  })
  .refine(({ after, when_full: whenFull }) => after !== undefined || whenFull !== undefined, {
    message: 'needs after, when_full or both; to delete at once, write after_ready: delete',
    when: ({ issues }) => issues.length === 0,
  });

const folder = z.strictObject({
  path: path.describe(
    'The folder to watch, with everything below it. A relative path starts at this file; ~ is your home.',
  ),
  include: globs
    .min(1, 'needs at least one pattern; remove include to accept the usual video and audio files')
    .prefault([DEFAULT_INCLUDE])
    .describe('Globs for the path relative to the folder; a file must match one of them.'),
  exclude: globs
    .prefault([])
    .describe('Globs for files to ignore. Hidden, temporary and partial files are always ignored.'),
  settle: duration('5s', 'A file that has not changed for this long is complete.'),
  done_marker: text
    .prefault('off')
    .meta({ examples: ['off', '{name}.{ext}.done'] })
    .describe(
      'Name of a file whose sender makes it beside each video when that one is complete, like "{name}.{ext}.done"; a video then waits for it. off: none.',
    ),
  watch: z
    .enum(['auto', 'native', 'polling'])
    .prefault('auto')
    .describe(
      'How to detect changes: auto uses file system events and falls back to polling where they fail, as on network shares.',
    ),
  rescan: duration('60s', 'How often to scan the whole folder; the scan finds what events missed.', {
    min: '100ms',
  }),
  on_duplicate: z
    .enum(['skip', 'upload'])
    .prefault('skip')
    .describe('What to do with a file whose content was already uploaded: skip it, or upload it as another video.'),
  on_change: z
    .enum(['upload', 'ignore'])
    .prefault('upload')
    .describe('What to do with a known path that has new content: upload it as a new video, or ignore it.'),
  existing: z
    .enum(['upload', 'ignore', 'adopt'])
    .prefault('upload')
    .describe(
      'What to do with the files that lie in the folder when dropcast watches it for the first time: upload them, ignore them, or adopt them: look which of them the service has already (dropcast adopt).',
    ),
  after_ready: z
    .union([
      z.enum(['keep', 'delete']),
      z.strictObject({
        move: text.describe('Template for a directory inside the watched folder, like "done/{date}".'),
      }),
      z.strictObject({ delete: deleteLater.describe('Deletes later: whichever of the two comes first.') }),
    ])
    .prefault('keep')
    .describe(
      'What to do with the local file once its video is ready: keep, delete, { delete: { after: 7d, when_full: 85% } }, or { move: "done/{date}" }.',
    ),
  uploads: number('Simultaneous uploads of this folder, 1 to 32. Without it, only uploads.concurrency limits them.', {
    min: 1,
    max: 32,
  }).optional(),
  rules: z
    .array(rule)
    .min(1, 'needs at least one rule; match: "**" matches every file')
    .describe(
      'Which file goes where. The first rule that matches wins; a file that no rule matches is held, never dropped.',
    ),
});

const service = z.strictObject({
  base_url: parsed('a web address in quotes', parseBaseUrl, { examples: ['https://video.example.com/v1'] }).describe(
    'Address of the API with its version. https only, except for loopback addresses.',
  ),
  /** Says where the key is; `secrets.ts` reads it. */
  api_key: z.unknown().meta({
    type: 'string',
    description:
      'The API key: !env NAME, !file PATH or !credential NAME (systemd LoadCredential). The key itself is allowed here only if nobody else can read this file.',
  }),
  /** Like the key. */
  webhook_secret: z.unknown().optional().meta({
    type: 'string',
    description:
      'The webhook secret (whsec_…): !env NAME, !file PATH or !credential NAME; or off. With it, POST /webhooks at status.listen accepts signed webhooks; each makes dropcast check videos in processing at once.',
  }),
  requests_per_hour: count(
    1000,
    'Requests per hour, 1 to 1,000,000. The service counts everything that uses the key.',
    {
      min: 1,
      max: 1_000_000,
    },
  ),
  send_key_to: z
    .array(parsed('an origin in quotes', parseOrigin, { examples: ['https://upload.example.com'] }))
    .prefault([])
    .describe('Other origins that may see the key, like an upload host that requires it.'),
});

const limit = { type: 'string' as const, examples: ['unlimited', '20MB/s', '8Mbit/s'] };

const bandwidthHours = z
  .unknown()
  .meta({ anyOf: [limit, { type: 'object', required: ['otherwise'], additionalProperties: limit }] })
  .transform((value, context): BandwidthHours => {
    const hours = parseBandwidthHours(value);
    if (hours.ok) return hours.value;
    for (const { message, key, isName } of hours.issues) {
      const path = key === undefined ? [] : [key];
      context.issues.push({ code: 'custom', message, input: value, path, params: { isName } });
    }
    return z.NEVER;
  });

const uploads = z.strictObject({
  concurrency: count(4, 'Simultaneous uploads, 1 to 32.', { min: 1, max: 32 }),
  bandwidth: bandwidthHours
    .prefault('unlimited')
    .describe(
      'Limit for all uploads together: 20MB/s is bytes, 8Mbit/s is bits. By the local time of day: { "08:00-18:00": 20MB/s, otherwise: unlimited }.',
    ),
  window: parsed(`always, or ${WINDOW_FORM}`, parseUploadWindow, { examples: ['always', '20:00-06:00'] })
    .prefault('always')
    .describe(
      'When uploads may start, by the local time of day: always, or "20:00-06:00". One that has started goes on afterwards.',
    ),
  stall_timeout: duration('60s', 'An upload that sends no bytes for this long is cut and retried.', {
    min: '100ms',
  }),
});

const retry = z
  .strictObject({
    attempts: count(12, 'Attempts per step before the file fails. A network that is down does not count.', {
      min: 1,
      max: 1000,
    }),
    first: duration(
      '1s',
      'Longest pause after the first failure. It doubles with each further failure; the actual pause is a random part of it.',
    ),
    max: duration('15m', 'Longest pause between attempts.'),
  })
  .refine(({ first, max }) => first <= max, { path: ['first'], message: 'must not be longer than retry.max' });

const poll = z
  .strictObject({
    interval: duration('15s', 'How often to check videos in processing; less often when the request budget is short.'),
    give_up_after: duration('24h', 'A video still in processing after this long needs a person.'),
  })
  .refine((value) => value.interval <= value.give_up_after, {
    path: ['interval'],
    message: 'must not be longer than poll.give_up_after',
  });

const publish = z
  .strictObject({
    quiet: duration('10s', 'Publishes a feed once no further file for it has become ready for this long.', {
      min: '0s',
    }),
    at_most: duration('2m', 'Publishes the feed after this long in any case.', { min: '0s' }),
  })
  .refine(({ quiet, at_most }) => quiet <= at_most, {
    path: ['quiet'],
    message: 'must not be longer than publish.at_most',
  });

const status = z.strictObject({
  listen: parsed(LISTEN_FORM, parseListen, { examples: ['127.0.0.1:7878', 'off'] })
    .prefault('127.0.0.1:7878')
    .describe(`Address of the status page: ${LISTEN_FORM}.`),
  socket: path
    .prefault('auto')
    .describe('Control socket. auto is dropcast.sock in $RUNTIME_DIRECTORY, else in state_dir.'),
});

const log = z.strictObject({
  level: z.enum(['error', 'warn', 'info', 'debug']).prefault('info').describe('The least important messages to write.'),
  format: z
    .enum(['auto', 'pretty', 'json', 'journald'])
    .prefault('auto')
    .describe('auto is pretty on a terminal, journald under systemd, else json: one object per line.'),
});

/** Every key of the configuration with its default, range and meaning. `assemble.ts` turns the result into a `Config`. */
export const configSchema = z.strictObject({
  service: service.describe('The account at the video service.'),
  state_dir: path
    .optional()
    .describe(
      'Directory for ledger and receipts, and for failures.jsonl without $LOGS_DIRECTORY. Default: $STATE_DIRECTORY; /var/lib/dropcast for /etc/dropcast/dropcast.yaml, /var/lib/dropcast@NAME for /etc/dropcast/NAME.yaml; else $XDG_STATE_HOME/dropcast, else ~/.local/state/dropcast.',
    ),
  uploads: uploads.prefault({}).describe('How to send files.'),
  retry: retry.prefault({}).describe('How to retry failures.'),
  poll: poll.prefault({}).describe('How to find out that a video is ready.'),
  publish: publish.prefault({}).describe('How to publish feeds: many videos, one request.'),
  folders: z.array(folder).min(1, 'needs at least one folder').describe('The watched folders and their rules.'),
  status: status.prefault({}).describe('Status page and control socket.'),
  log: log.prefault({}).describe('What the daemon logs.'),
});

export type CheckedTree = z.output<typeof configSchema>;
