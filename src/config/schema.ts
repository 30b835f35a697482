import { z } from 'zod';
import { LISTEN_FORM, parseBaseUrl, parseListen, parseOrigin } from './addresses.ts';
import { BANDWIDTH_FORM, DURATION_FORM, LONGEST, parseBandwidth, parseDuration } from './units.ts';

/** Extensions that a folder takes when it does not say `include`. */
export const DEFAULT_INCLUDE = '**/*.{mp4,mov,m4v,mkv,webm,avi,mpg,mpeg,ts,m2ts,mxf,mp3,m4a,wav,flac}';

type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** Text that `parse` turns into what the program works with. The schema file shows editors the text. */
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

function duration(normally: string, about: string, range: { min?: string; max?: string } = {}) {
  const { min = '10ms', max = LONGEST } = range;
  return parsed(DURATION_FORM, (text) => parseDuration(text, { min, max }), {
    examples: ['500ms', '5s', '2m', '24h', '7d'],
    pattern: '^[0-9]+(ms|s|m|h|d)$',
  })
    .prefault(normally)
    .describe(`${about} From ${min} to ${max}.`);
}

function count(normally: number, about: string, range: { min: number; max: number }) {
  const message = `must be a whole number from ${range.min} to ${range.max}`;
  return z
    .int({ error: ({ input }) => (isOtherScalar(input) || typeof input === 'string' ? message : undefined) })
    .min(range.min, message)
    .max(range.max, message)
    .prefault(normally)
    .describe(about);
}

/** What YAML made a number or a switch of: the form is what helps. All else gets the general message of `check-schema.ts`. */
function isOtherScalar(input: unknown): boolean {
  return typeof input === 'number' || typeof input === 'boolean';
}

const text = z.string().regex(/\S/, { error: 'must not be empty', abort: true });

/** Identifiers of the service, taken as they are: no blank can be in one, and a pasted one often has some around it. */
const identifier = text.regex(/^\S+$/, 'must not hold blanks').max(200, 'must not be longer than 200 characters');

const path = text.refine((value) => !/^~[^/]/.test(value), '~ is your own home only; write the other one out');

const globs = z.array(text);

const rule = z.strictObject({
  match: text.describe(
    'Glob over the path relative to the folder. * and ? stay within one folder, ** goes through any number, {a,b} is one of several, {name} captures within one path segment. The first rule that matches wins.',
  ),
  channel: identifier.describe('Identifier of the channel that the video goes to, like ch_news.'),
  title: text
    .prefault('{title}')
    .describe('Template. Words: {title} {name} {ext} {path} {dir} {dirs} {date}, and every capture of match.'),
  description: z.string().optional().describe('Template, with the words of title. Left out: no description is sent.'),
  tags: z
    .array(text)
    .prefault([])
    .describe('Templates. A tag that is exactly "{dirs}" becomes one tag per sub-folder.'),
  publish: z
    .array(identifier)
    .prefault([])
    .describe('Identifiers of feeds to publish once the video is ready, like feed_news.'),
});

const folder = z.strictObject({
  path: path.describe('The folder to watch, with all below it. A relative path starts at this file, ~ is your home.'),
  include: globs
    .min(1, 'must name at least one pattern; without include the usual video and audio files are taken')
    .prefault([DEFAULT_INCLUDE])
    .describe('Globs over the path relative to the folder; a file has to match one of them.'),
  exclude: globs
    .prefault([])
    .describe('Globs of files to leave alone. Hidden, temporary and partial names always are.'),
  settle: duration('5s', 'A file that did not change for so long is complete.'),
  watch: z
    .enum(['auto', 'native', 'polling'])
    .prefault('auto')
    .describe(
      'How changes are noticed: auto uses events of the system and falls back to polling where they fail, as on network shares.',
    ),
  rescan: duration(
    '60s',
    'How often the whole folder is compared with what is known; events may be lost, this is not.',
    {
      min: '100ms',
    },
  ),
  on_duplicate: z
    .enum(['skip', 'upload'])
    .prefault('skip')
    .describe('A file whose content was uploaded before: skip it, or upload it as another video.'),
  on_change: z
    .enum(['upload', 'ignore'])
    .prefault('upload')
    .describe('A known path with new content: upload it as a new video, or ignore it.'),
  after_ready: z
    .union([
      z.enum(['keep', 'delete']),
      z.strictObject({ move: text.describe('Template of a folder inside the watched one, like "done/{date}".') }),
    ])
    .prefault('keep')
    .describe('What happens to the local file once its video is ready: keep, delete, or { move: "done/{date}" }.'),
  rules: z
    .array(rule)
    .min(1, 'must hold at least one rule; match: "**" takes every file')
    .describe(
      'Which file goes where. The first rule that matches wins; a file that none takes is held, never dropped.',
    ),
});

const service = z.strictObject({
  base_url: parsed('a web address in quotes', parseBaseUrl, { examples: ['https://video.example.com/v1'] }).describe(
    'Address of the API with its version, https only; http is for loopback addresses alone.',
  ),
  /** Read by `api-key.ts`: what stands here says where the key is. */
  api_key: z.unknown().meta({
    type: 'string',
    description:
      'The API key: !env NAME, !file PATH, or !credential NAME (systemd LoadCredential). The key itself is refused when other users can read this file.',
  }),
  /** Read by `webhook-secret.ts`. */
  webhook_secret: z.unknown().optional().meta({
    type: 'string',
    description:
      'The secret of a webhook (whsec_…): !env NAME, !file PATH, or !credential NAME; or off. With it, POST /webhooks at status.listen takes signed webhooks; each one only lets dropcast ask at once for videos in processing.',
  }),
  requests_per_hour: count(1000, 'Requests an hour, shared by everything that uses the key.', {
    min: 1,
    max: 1_000_000,
  }),
  send_key_to: z
    .array(parsed('an origin in quotes', parseOrigin, { examples: ['https://upload.example.com'] }))
    .prefault([])
    .describe('Further origins that may see the key, like an upload host that asks for it.'),
});

const uploads = z.strictObject({
  concurrency: count(4, 'Uploads at the same time, 1 to 32.', { min: 1, max: 32 }),
  bandwidth: parsed(BANDWIDTH_FORM, parseBandwidth, { examples: ['unlimited', '20MB/s', '8Mbit/s'] })
    .prefault('unlimited')
    .describe('Limit of all uploads together: 20MB/s is bytes, 8Mbit/s is bits.'),
  stall_timeout: duration('60s', 'An upload whose bytes do not move for so long is cut and tried again.', {
    min: '100ms',
  }),
});

const retry = z
  .strictObject({
    attempts: count(12, 'Tries of one step before the file is failed. A network that is down never counts.', {
      min: 1,
      max: 1000,
    }),
    first: duration(
      '1s',
      'Longest pause after the first failure; it doubles with each further one, and a random part of it is waited.',
    ),
    max: duration('15m', 'Where the doubling ends.'),
  })
  .refine(({ first, max }) => first <= max, { path: ['first'], message: 'must not be longer than retry.max' });

const poll = z
  .strictObject({
    interval: duration(
      '15s',
      'How often the service is asked for videos in processing; slower when the request budget is short.',
    ),
    give_up_after: duration('24h', 'A video that is still in processing after so long needs a person.'),
  })
  .refine((value) => value.interval <= value.give_up_after, {
    path: ['interval'],
    message: 'must not be longer than poll.give_up_after',
  });

const publish = z
  .strictObject({
    quiet: duration('10s', 'A feed is published once no further file of it became ready for so long.', { min: '0s' }),
    at_most: duration('2m', 'It is published after so long in any case.', { min: '0s' }),
  })
  .refine(({ quiet, at_most }) => quiet <= at_most, {
    path: ['quiet'],
    message: 'must not be longer than publish.at_most',
  });

const status = z.strictObject({
  listen: parsed(LISTEN_FORM, parseListen, { examples: ['127.0.0.1:7878', 'off'] })
    .prefault('127.0.0.1:7878')
    .describe(`Where the status page is: ${LISTEN_FORM}.`),
  socket: path
    .prefault('auto')
    .describe('Control socket. auto is dropcast.sock in $RUNTIME_DIRECTORY, else in state_dir.'),
});

const log = z.strictObject({
  level: z
    .enum(['error', 'warn', 'info', 'debug'])
    .prefault('info')
    .describe('The least important lines that are written.'),
  format: z
    .enum(['auto', 'pretty', 'json', 'journald'])
    .prefault('auto')
    .describe('auto is pretty on a terminal, journald under systemd, else json: one object a line.'),
});

/** Every key of the configuration, its default, range and meaning. The text form; `assemble.ts` makes a `Config` of it. */
export const configSchema = z.strictObject({
  service: service.describe('The account at the video service.'),
  state_dir: path
    .optional()
    .describe(
      'Directory of ledger and receipts, and of failures.jsonl where there is no $LOGS_DIRECTORY. Default: $STATE_DIRECTORY; /var/lib/dropcast for /etc/dropcast/dropcast.yaml, /var/lib/dropcast@NAME for /etc/dropcast/NAME.yaml; else $XDG_STATE_HOME/dropcast, else ~/.local/state/dropcast.',
    ),
  uploads: uploads.prefault({}).describe('How files are sent.'),
  retry: retry.prefault({}).describe('How failures are tried again.'),
  poll: poll.prefault({}).describe('How it is found out that a video is ready.'),
  publish: publish.prefault({}).describe('How feeds are published: many videos, one request.'),
  folders: z.array(folder).min(1, 'must hold at least one folder').describe('The watched folders and their rules.'),
  status: status.prefault({}).describe('Status page and control socket.'),
  log: log.prefault({}).describe('What the daemon writes about its work.'),
});

export type CheckedTree = z.output<typeof configSchema>;
