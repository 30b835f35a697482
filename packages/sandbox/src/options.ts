import { randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { z } from 'zod';
import type { ExchangeListener } from './http/exchange-listener.ts';
import { isLoopbackHost, plainHost } from './loopback.ts';
import { profileSchema, switchesSchema } from './profiles/switchboard.ts';
import type { ProfileName, Switches } from './profiles/switch-table.ts';
import { timeField } from './http/input.ts';

export interface SandboxOptions {
  /** Name or address to listen on. Default 127.0.0.1. Addresses other than loopback require `exposed`. */
  readonly host?: string;
  /**
   * Lets other machines use the sandbox. Plain http is otherwise limited to this machine (api-spec section 5, rule 5),
   * because it reveals keys to everyone on the path. Feeds, media and players need no key at all. Default false.
   */
  readonly exposed?: boolean;
  /**
   * Origin under which others reach an exposed sandbox, such as `https://sandbox:8787`. Default: each request's own
   * host.
   */
  readonly externalUrl?: string;
  /** Origins of web pages that may use the API with a key, such as `http://localhost:5173`, or `*`. Default none. */
  readonly corsOrigins?: readonly string[];
  /** Port to listen on; 0 (default) selects a free one. */
  readonly port?: number;
  /** Data folder. Default: records in memory, and files in a temporary folder that is removed on close. */
  readonly dataDir?: string;
  /** Serves HTTPS with the sandbox's own certificate, kept in the data folder. Default false. */
  readonly tls?: boolean;
  /** Seed that determines ids, the first key and processing times. Default 1. */
  readonly seed?: number;
  /** Rate limit per key in any rolling hour. Default 1,000 (api-spec section 8). */
  readonly requestsPerHour?: number;
  /** Processing time of a video, drawn from the seed. Default 500 to 2,000 ms. */
  readonly processingMs?: { readonly min: number; readonly max: number };
  /** Whether uploads use the same port or a second one, which is a different origin. Default same. */
  readonly uploadOrigin?: 'same' | 'separate';
  /** Lifetime of an upload address, in milliseconds. Default 1 h. */
  readonly uploadUrlTtlMs?: number;
  readonly seedData?: 'demo' | 'none';
  /** The account's first key. Default: derived from the seed. */
  readonly apiKey?: string;
  /** Token for the admin API. Default: random. */
  readonly adminToken?: string;
  /** Hosts that `source_url` may name. Default: this machine only. */
  readonly importFrom?: 'loopback' | 'anywhere';
  /** Folder of media files for created and seeded videos. Default: a short clip from the package. */
  readonly samplesDir?: string;
  /**
   * Initial time of the service's clock, ISO 8601. With a fixed time, the same seed and calls produce the same times.
   * Default: now.
   */
  readonly now?: string;
  /** System clock for the whole service, ms since 1970. Default Date.now. */
  readonly nowMs?: () => number;
  /** Path of ffmpeg, for thumbnails; null for none. Default: the one on the PATH, if any. */
  readonly ffmpegPath?: string | null;
  /** Named set of choices for what the specification leaves open. Default `default`. See docs/sandbox-profiles.md. */
  readonly profile?: ProfileName;
  /** Individual switches that override the profile. */
  readonly switches?: Partial<Switches>;
  /** Called with a copy of every API exchange, for checks. Errors that it throws are reported as defects. */
  readonly onExchange?: ExchangeListener;
}

export type SandboxSettings = Readonly<z.output<typeof optionsSchema>>;

/** Thrown when options of `startSandbox` are invalid. */
export class OptionsError extends TypeError {
  override readonly name = 'OptionsError';
  readonly problems: readonly OptionProblem[];

  constructor(problems: readonly OptionProblem[]) {
    super(`sandbox options: ${problems.map(({ path, what }) => `${path.join('.') || 'options'}: ${what}`).join('; ')}`);
    this.problems = problems;
  }
}

export interface OptionProblem {
  /** Name of the option and path within its value. Empty if it concerns all options. */
  readonly path: readonly PropertyKey[];
  /** What is wrong, phrased to follow the option's name. */
  readonly what: string;
}

/** Validates the options and fills in the defaults. @throws OptionsError */
export function settingsFrom(options: SandboxOptions): SandboxSettings {
  const result = consistentOptions.safeParse(options);
  if (result.success) return result.data;
  throw new OptionsError(result.error.issues.map(({ path, message }) => ({ path, what: message })));
}

const HOUR_MS = 3_600_000;
const count = z.int().min(0);
const bearerToken = z
  .string()
  .regex(/^[\w.~+/=-]{1,256}$/, 'must be 1 to 256 characters that a Bearer token may have (RFC 6750)');

/** @param form an example, for the message @param wildcard a value that allows every origin */
function origin(form: string, wildcard?: string) {
  return z
    .string()
    .refine((text) => text === wildcard || isOrigin(text), `must be an http or https origin ${form}`)
    .transform((text) => (text === wildcard ? text : new URL(text).origin));
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.href === `${url.origin}/`;
}

function isHost(text: string): boolean {
  // Rejects ports here, because URL drops the default port of http.
  if (text.includes(':') && !isIPv6(plainHost(text))) return false;
  const url = URL.parse(`http://${isIPv6(text) ? `[${text}]` : text}`);
  return url !== null && url.href === `http://${url.hostname}/`;
}

const optionsSchema = z.strictObject({
  host: z
    .string()
    .refine(isHost, { error: 'must be a name or an address without a port', abort: true })
    .default('127.0.0.1'),
  exposed: z.boolean().default(false),
  externalUrl: origin('like https://sandbox:8787, without a path').optional(),
  corsOrigins: z.array(origin('like http://localhost:5173, or *', '*')).default([]),
  port: count.max(65_535).default(0),
  dataDir: z.string().min(1, 'must not be empty').optional(),
  tls: z.boolean().default(false),
  seed: z.int().default(1),
  requestsPerHour: z.int().min(1).default(1000),
  processingMs: z
    .strictObject({ min: count, max: count })
    .refine(({ min, max }) => min <= max, 'min must not be above max')
    .default({ min: 500, max: 2000 }),
  uploadOrigin: z.enum(['same', 'separate']).default('same'),
  uploadUrlTtlMs: count.default(HOUR_MS),
  seedData: z.enum(['demo', 'none']).default('demo'),
  apiKey: bearerToken.optional(),
  adminToken: bearerToken.default(() => randomBytes(24).toString('base64url')),
  importFrom: z.enum(['loopback', 'anywhere']).default('loopback'),
  samplesDir: z.string().min(1, 'must not be empty').optional(),
  now: timeField.optional(),
  nowMs: z.custom<() => number>((value) => typeof value === 'function', 'must be a function').default(() => Date.now),
  ffmpegPath: z.string().min(1, 'must not be empty').nullable().optional(),
  profile: profileSchema.default('default'),
  switches: switchesSchema.default({}),
  onExchange: z.custom<ExchangeListener>((value) => typeof value === 'function', 'must be a function').optional(),
});

const consistentOptions = optionsSchema
  .refine(({ host, exposed }) => exposed || isLoopbackHost(host), {
    path: ['host'],
    message: 'other machines could reach that address; allow it with exposed: true (--expose)',
  })
  .refine(({ externalUrl, exposed }) => exposed || externalUrl === undefined, {
    path: ['externalUrl'],
    message: 'is for a sandbox that others may reach; allow that with exposed: true (--expose)',
  });
