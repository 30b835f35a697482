import { z } from 'zod';
import {
  LEDGER_FORM,
  LISTEN_FORM,
  parseBaseUrl,
  parseHostName,
  parseHostPattern,
  parseLedgerAddress,
  parseListen,
  parseOrigin,
} from './addresses.ts';
import { type BandwidthHours, parseBandwidthHours } from './bandwidth-hours.ts';
import { RESET_FORM, WINDOW_FORM, parseReset, parseUploadWindow } from './day-window.ts';
import { folder } from './schema-folder.ts';
import { notify } from './schema-notify.ts';
import { type Parsed, refused } from './parsed.ts';
import { count, duration, headerName, number, parseName, parsed, path, secret } from './schema-values.ts';
import { SIZE_FORM, parseSize } from './units.ts';

const quota = z
  .strictObject({
    videos: number('How many videos the service accepts in a day or month, 1 to 1,000,000.', {
      min: 1,
      max: 1_000_000,
    }).optional(),
    size: parsed(SIZE_FORM, parseSize, { examples: ['unlimited', '500GB', '2TB'] })
      .optional()
      .describe('How many bytes it accepts, like 500GB, from 1kB to 1000TB.'),
    minutes: number(
      'How many minutes of video it accepts, 1 to 100,000,000. A file of unknown duration counts as 0 minutes.',
      { min: 1, max: 100_000_000 },
    ).optional(),
    per: z.enum(['day', 'month']).prefault('day').describe('The period: day or month.'),
    resets: parsed(RESET_FORM, parseReset, { examples: ['00:00', '00:00 America/Los_Angeles'] })
      .prefault('00:00')
      .describe(
        'Time of day when it starts again, and the time zone, by default that of this machine. For a month, on its first day.',
      ),
  })
  .refine(({ videos, size, minutes }) => (videos ?? size ?? minutes) !== undefined, 'needs videos, size or minutes')
  .transform(({ videos = Infinity, size: bytes = Infinity, minutes = Infinity, ...period }) => ({
    ...period,
    videos,
    bytes,
    minutes,
  }));

const service = z
  .strictObject({
    base_url: parsed('a web address in quotes', parseBaseUrl, { examples: ['https://video.example.com/v1'] }).describe(
      'Address of the API with its version. https only, except for loopback addresses.',
    ),
    api_key: secret(
      'key',
      'The API key: !env NAME, !file PATH or !credential NAME (systemd LoadCredential). The key itself is allowed here only if no other user can read this file.',
    ),
    webhook_secret: secret(
      'webhook secret',
      'The webhook secret: !env NAME, !file PATH or !credential NAME; or off. It is whsec_… for webhook_scheme standard, else any text of 16 to 500 characters. With it, POST /webhooks at status.listen accepts signed webhooks; each makes dropcast check videos in processing at once.',
    ).optional(),
    webhook_scheme: z
      .enum(['standard', 'hmac-hex', 'timestamped'])
      .prefault('standard')
      .describe(
        'How the service signs webhooks: standard (Standard Webhooks), hmac-hex (the body, in hex) or timestamped (t=…,v1=… or time=…,sig1=…).',
      ),
    webhook_header: z
      .string()
      .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'is not the name of a header')
      .optional()
      .describe(
        'The header with the signature. Default: x-signature for hmac-hex, mux-signature or webhook-signature for timestamped; standard has its own.',
      ),
    requests_per_hour: count(
      1000,
      'Requests per hour, 1 to 1,000,000. The service counts everything that uses the key.',
      {
        min: 1,
        max: 1_000_000,
      },
    ),
    quota: quota
      .optional()
      .describe('Amounts that the service accepts in a day or month. Further files wait for the next one.'),
    send_key_to: z
      .array(parsed('an origin in quotes', parseOrigin, { examples: ['https://upload.example.com'] }))
      .prefault([])
      .describe('Other origins that may see the key, like an upload host that requires it.'),
    marker: z
      .boolean()
      .default(false)
      .describe(
        'Tag each new video with dc- and eight digits from name, size and time of its file. Viewers may see the tag.',
      ),
    idempotency_key: z
      .boolean()
      .default(false)
      .describe('Send an Idempotency-Key with each create request: for a service that creates one record per key.'),
  })
  .transform(({ webhook_secret: key, webhook_scheme: scheme, webhook_header: header, ...service }) => ({
    baseUrl: service.base_url,
    apiKey: service.api_key,
    // A null header is the default one of the scheme.
    webhooks: key === undefined || key.reveal() === '' ? null : { secret: key, scheme, header: header ?? null },
    requestsPerHour: service.requests_per_hour,
    quota: service.quota ?? null,
    sendKeyTo: service.send_key_to,
    honoursIdempotencyKey: service.idempotency_key,
    isMarking: service.marker,
  }));

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

function isConcurrency(value: unknown): boolean {
  return value === 'auto' || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 32);
}

const uploads = z
  .strictObject({
    concurrency: z
      .unknown()
      .meta({ anyOf: [{ type: 'integer', minimum: 1, maximum: 32 }, { const: 'auto' }] })
      .refine(isConcurrency, 'must be a whole number from 1 to 32, or auto')
      .prefault(4)
      .describe(
        'Simultaneous uploads, 1 to 32; or auto: 4 to 16, as many as make the uploads faster together. Use auto for a line with delay or loss.',
      ),
    bandwidth: bandwidthHours
      .prefault('unlimited')
      .describe(
        'Limit for all uploads together: 20MB/s is bytes, 8Mbit/s is bits. By the local time of day: { "08:00-18:00": 20MB/s, otherwise: unlimited }.',
      ),
    window: parsed(`always, or ${WINDOW_FORM}`, parseUploadWindow, { examples: ['always', '20:00-06:00'] })
      .prefault('always')
      .describe(
        'When uploads may start, in local time: always, or "20:00-06:00". An upload that has started continues afterwards.',
      ),
    stall_timeout: duration('60s', 'An upload that sends no bytes for this long is cut and retried.', {
      min: '100ms',
    }),
    max_size: parsed(SIZE_FORM, parseSize, { examples: ['unlimited', '5GB', '200MiB'] })
      .prefault('unlimited')
      .describe(
        'Largest file that is sent; larger ones are held before they cost a request. unlimited, or a size: 5GB is 5,000,000,000 bytes, 5GiB is 5,368,709,120. Without it, dropcast learns the limit when the upload host refuses a file.',
      ),
    headers: z
      .record(
        headerName.refine((name) => !isOfConnection(name), 'no upload may carry this header; remove it'),
        secret('header'),
      )
      .prefault({})
      .describe(
        'Headers of every PUT of a file, besides those that the service asks for; one of the same name replaces it. A value that is a secret is written like the key.',
      ),
    content_type: parsed('auto, none, or a media type in quotes', parseContentType, {
      examples: ['auto', 'none', 'application/octet-stream'],
    })
      .prefault('auto')
      .describe(
        'Content-Type of every PUT: auto is what the service asks for, else by the extension of the file, and none for a host that signs its addresses without one; none; or a media type.',
      ),
    protocol: z
      .enum(['auto', 'put', 'content-range', 'tus'])
      .prefault('auto')
      .describe(
        'How the upload host receives files: put is one PUT, sent again from the first byte if it breaks; content-range (resumable sessions of Google Cloud Storage) and tus continue where it broke. auto is put, unless the address or an answer shows another one.',
      ),
  })
  .transform(({ concurrency, stall_timeout: stallTimeoutMs, max_size: maxSizeBytes, content_type, ...uploads }) => ({
    ...uploads,
    concurrency: concurrency === 'auto' ? 4 : Number(concurrency),
    isAuto: concurrency === 'auto',
    stallTimeoutMs,
    maxSizeBytes,
    contentType: content_type,
  }));

/**
 * Whether a header is set by the connection or the client, so that no upload may carry it. The client applies the same
 * rule to headers that a service asks for; a test keeps the two in step.
 */
export function isOfConnection(name: string): boolean {
  return /^(?:host|content-length|content-range|upload-offset|upload-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|cookie|proxy-.*|__proto__)$/i.test(
    name,
  );
}

/** Parses `auto`, `none`, or a media type (RFC 9110 section 8.3.1) with or without parameters. */
function parseContentType(text: string): Parsed<string> {
  if (/^(?:auto|none|[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:;[\x20-\x7e]{1,200})?)$/.test(text))
    return { ok: true, value: text };
  return refused('not a media type; write auto, none, or one like video/mp4');
}

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
  .refine(({ first, max }) => first <= max, { path: ['first'], message: 'must not be longer than retry.max' })
  .transform(({ attempts, first, max }) => ({ attempts, firstMs: first, maxMs: max }));

const poll = z
  .strictObject({
    interval: duration('15s', 'How often to check videos in processing; less often when the request budget is short.'),
    give_up_after: duration('24h', 'A video still in processing after this long needs you.'),
  })
  .refine((value) => value.interval <= value.give_up_after, {
    path: ['interval'],
    message: 'must not be longer than poll.give_up_after',
  })
  .transform(({ interval, give_up_after }) => ({ intervalMs: interval, giveUpAfterMs: give_up_after }));

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
  })
  .transform(({ quiet, at_most }) => ({ quietMs: quiet, atMostMs: at_most }));

const status = z.strictObject({
  listen: parsed(LISTEN_FORM, parseListen, { examples: ['127.0.0.1:7878', 'off'] })
    .prefault('127.0.0.1:7878')
    .describe(`Address of the status page: ${LISTEN_FORM}.`),
  hosts: z
    .array(parsed('a host name in quotes', parseHostName, { examples: ['dropcast.example.com'] }))
    .prefault([])
    .describe('Names under which a proxy serves the status page. The page answers to no other name.'),
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

const exported = z.strictObject({
  to: z
    .string()
    .regex(/^[\w][\w.-]{0,99}\.(?:csv|ndjson)$/, 'is not a file name like links.csv or links.ndjson')
    .describe('File name ending in .csv or .ndjson, next to failures.jsonl.'),
});

const address = () =>
  parsed(LEDGER_FORM, parseLedgerAddress, { examples: ['postgres://dropcast@db.example.com/dropcast'] });

const mapping = z.strictObject({
  url: address().describe('Address of the PostgreSQL database: postgres://USER@HOST:PORT/DATABASE.'),
  password: secret('password', 'Password of the user. Written like the key.').optional(),
  ca: path
    .optional()
    .describe('PEM file with the certificate authorities to trust. Default: those that come with Node.js.'),
  tls: z
    .boolean('must be true or false')
    .optional()
    .describe(
      'false sends everything in plain text. Default: true, but false for Unix sockets and loopback addresses without ca.',
    ),
});

const hostPattern = parsed('the name of a host', parseHostPattern, {
  examples: ['video.example.com', '*.example.com'],
});

const tls = z.strictObject({
  ca: z
    .union([path, z.record(hostPattern, path)])
    .optional()
    .describe(
      'PEM file with authorities to trust besides those that come with Node.js, for the service and its upload hosts; or a mapping of host names, like video.example.com or *.example.com, to such files.',
    ),
});

/** The ledger: an address, or a mapping with more settings. */
const ledger = z.union([address().transform((url): z.output<typeof mapping> => ({ url })), mapping]);

const hostName = parsed('a name in quotes', parseName, { examples: ['ingest1'] });

/** Every configuration key with its default, range and meaning. `assemble` turns the result into a `Config`. */
export const configSchema = z.strictObject({
  service: service.describe('The account at the video service.'),
  state_dir: path
    .optional()
    .describe(
      'Directory for ledger and receipts, and for failures.jsonl without $LOGS_DIRECTORY. Default: $STATE_DIRECTORY; /var/lib/dropcast for /etc/dropcast/dropcast.yaml, /var/lib/dropcast@NAME for /etc/dropcast/NAME.yaml; else $XDG_STATE_HOME/dropcast, else ~/.local/state/dropcast.',
    ),
  tls: tls.prefault({}).describe('How to check the certificates of the service and its upload hosts.'),
  ledger: ledger
    .optional()
    .describe(
      'Where to keep the ledger, so that several hosts share it: postgres://USER@HOST/DATABASE, or { url, password, ca, tls }. Default: SQLite in state_dir.',
    ),
  host_name: hostName
    .optional()
    .describe('Name of this host among those that share the ledger. Default: the host name of the machine.'),
  uploads: uploads.prefault({}).describe('How to send files.'),
  retry: retry.prefault({}).describe('How to retry failures.'),
  poll: poll.prefault({}).describe('How to find out that a video is ready.'),
  publish: publish.prefault({}).describe('How to publish feeds: many videos, one request.'),
  folders: z.array(folder).min(1, 'needs at least one folder').describe('The watched folders and their rules.'),
  status: status.prefault({}).describe('Status page and control socket.'),
  exports: z
    .array(exported)
    .refine((all) => new Set(all.map(({ to }) => to)).size === all.length, 'names the same file twice')
    .prefault([])
    .describe('Files that get a line for each finished video, with its id and its embed address.'),
  notify: notify.prefault([]).describe('Where to send notifications. Without it, none are sent.'),
  log: log.prefault({}).describe('What the daemon logs.'),
});

export type CheckedTree = z.output<typeof configSchema>;
