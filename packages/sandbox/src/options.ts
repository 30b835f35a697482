import { randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { z } from 'zod';
import type { ExchangeListener } from './http/exchange-listener.ts';
import { isLoopbackHost, plainHost } from './loopback.ts';
import { timeField } from './makers/fields.ts';
import { profileSchema, switchesSchema } from './profiles/switchboard.ts';
import type { ProfileName, Switches } from './profiles/switch-table.ts';

export interface SandboxOptions {
  /** The name or address to listen on. Default 127.0.0.1. Others than loopback need `exposed`. */
  readonly host?: string;
  /**
   * Lets other machines use the sandbox. Plain http is otherwise for this machine alone (api-spec section 5, rule 5),
   * because it shows keys to everybody on the way. Feeds, media and players need no key at all. Default false.
   */
  readonly exposed?: boolean;
  /**
   * The origin by which others know an exposed sandbox, like `https://sandbox:8787`. Default: what each request asks
   * for.
   */
  readonly externalUrl?: string;
  /** Origins of web pages that may use the API with a key, like `http://localhost:5173`, or `*`. Default none. */
  readonly corsOrigins?: readonly string[];
  /** 0 (default) = any free port. */
  readonly port?: number;
  /** Default: records in memory, and files in a fresh temporary folder that is removed on close. */
  readonly dataDir?: string;
  /** HTTPS with its own certificate, kept in the data folder. Default false. */
  readonly tls?: boolean;
  /** The same seed gives the same ids, key and processing times. Default 1. */
  readonly seed?: number;
  /** Per key, in any rolling hour. Default 1,000 (api-spec section 8). */
  readonly requestsPerHour?: number;
  /** How long a video stays in processing, drawn from the seed. Default 500 to 2,000 ms. */
  readonly processingMs?: { readonly min: number; readonly max: number };
  /** Whether uploads go to the same port or to a second one, which is another origin. Default same. */
  readonly uploadOrigin?: 'same' | 'separate';
  /** Lifetime of an upload address. Default 1 h. */
  readonly uploadUrlTtlMs?: number;
  readonly seedData?: 'demo' | 'none';
  /** Default: drawn from the seed. */
  readonly apiKey?: string;
  /** Token of the admin side. Default: random. */
  readonly adminToken?: string;
  /** Hosts that `source_url` may name. Default: only this machine. */
  readonly importFrom?: 'loopback' | 'anywhere';
  /** Folder of media files for made and seeded videos. Default: a short clip of the package. */
  readonly samplesDir?: string;
  /**
   * The time at which the service's clock begins to run, ISO 8601: with it, the same seed and the same calls give the
   * same times. Default: now.
   */
  readonly now?: string;
  /** The clock of the whole service, ms since 1970. Default Date.now. */
  readonly nowMs?: () => number;
  /** ffmpeg, for thumbnails. null: none. Default: the one on the PATH, if any. */
  readonly ffmpegPath?: string | null;
  /**
   * How the points are settled that the specification leaves open: a named set. Default `default`. See
   * docs/sandbox-profiles.md.
   */
  readonly profile?: ProfileName;
  /** Single switches, in addition to the profile. */
  readonly switches?: Partial<Switches>;
  /** Receives a copy of every API exchange, for checks. Its errors are reported as defects. */
  readonly onExchange?: ExchangeListener;
}

export type SandboxSettings = Readonly<z.output<typeof optionsSchema>>;

/** Options of `startSandbox` that are wrong. */
export class OptionsError extends TypeError {
  override readonly name = 'OptionsError';
  readonly problems: readonly OptionProblem[];

  constructor(problems: readonly OptionProblem[]) {
    super(`sandbox options: ${problems.map(({ path, what }) => `${path.join('.') || 'options'}: ${what}`).join('; ')}`);
    this.problems = problems;
  }
}

export interface OptionProblem {
  /** The name of the option, and the place in its value. Empty for all options. */
  readonly path: readonly PropertyKey[];
  /** Begins in the middle of a sentence. */
  readonly what: string;
}

/** Fills in the defaults. @throws OptionsError */
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

/** @param form an example, for the message @param wildcard a text that allows every origin */
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
  // URL omits the default port of http.
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
