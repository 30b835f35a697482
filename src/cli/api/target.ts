import { resolve } from 'node:path';
import { parseBaseUrl } from '../../config/addresses.ts';
import { type Config, type SendOptions, sendOptionsOf } from '../../config/config.ts';
import type { Secret } from '../../config/secret.ts';
import { readRegularFile } from '../../config/file-access.ts';
import { loadConfig } from '../../config/load.ts';
import { formatProblem } from '../../config/problem.ts';
import { TaggedValue } from '../../config/raw-tree.ts';
import { type AuthoritiesByHost, resolveSecret } from '../../config/secrets.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { badConfig, locateConfig } from '../read-config.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** The service that a command uses. */
export interface Target {
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Where the key came from, for messages. */
  readonly keyFrom: string;
  readonly sendKeyTo: readonly string[];
  /** The configuration that names the service; null if something else does. */
  readonly config: Config | null;
  /** Returns the configured headers for every PUT. */
  sendOptions(): SendOptions;
  /** Trusted certificates in PEM format, by host. */
  readonly ca: AuthoritiesByHost;
}

export interface TargetOptions {
  readonly config?: string;
  readonly baseUrl?: string;
  readonly ca?: string;
}

/** Variables that name the service and its key without a configuration. */
const URL_VARIABLE = 'DROPCAST_BASE_URL';
const KEY_VARIABLE = 'DROPCAST_API_KEY';

/** Other ways to name the service. */
const elsewhere = `Or name the service with --base-url URL or $${URL_VARIABLE}, and put its key in $${KEY_VARIABLE}. To try things out, start a local service with \`dropcast sandbox\`.`;

/**
 * Finds the service: `--base-url` with the key in `$DROPCAST_API_KEY`, otherwise `--config`, `$DROPCAST_BASE_URL` with
 * the same key, or the daemon's configuration. Ignores the configured folders and state directory.
 *
 * @throws {CommandError} 2 for an invalid address or certificate file, 78 for an invalid or missing configuration or
 *   key
 */
export async function findTarget(shell: Shell, options: TargetOptions): Promise<Target> {
  const ca = options.ca === undefined ? null : await readCertificates(shell, options.ca);
  const address = addressOf(shell, options);
  const service = address === null ? await fromConfig(shell, options.config) : await fromEnvironment(shell, address);
  return { ...service, ca: ca === null ? service.ca : { '*': ca } };
}

interface Address {
  readonly text: string;
  /** Where the address came from, for messages. */
  readonly from: string;
}

/** Returns null if the configuration names the service. An empty variable counts as unset. */
function addressOf({ env }: Shell, { baseUrl, config }: TargetOptions): Address | null {
  if (baseUrl !== undefined) return { text: baseUrl, from: '--base-url' };
  const text = env[URL_VARIABLE] ?? '';
  return config !== undefined || text === '' ? null : { text, from: `$${URL_VARIABLE}` };
}

async function fromEnvironment(shell: Shell, { text, from }: Address): Promise<Target> {
  const address = parseBaseUrl(text);
  if (!address.ok) throw new CommandError(`${from}: ${address.message}`, exitCodes.usage);
  const tag = new TaggedValue('env', KEY_VARIABLE);
  const key = await resolveSecret(
    { path: ['service', 'api_key'], raw: tag, kind: 'key' },
    { configFile: shell.cwd, mode: 0, environment: shell },
  );
  if (key.secret === null) {
    const why = key.findings.map(({ message }) => message).join('; ');
    throw new CommandError(`${from} needs the API key in $${KEY_VARIABLE}: ${why}`, exitCodes.badConfig);
  }
  return {
    baseUrl: address.value,
    apiKey: key.secret,
    keyFrom: `$${KEY_VARIABLE}`,
    sendKeyTo: [],
    config: null,
    sendOptions: () => ({ headers: {} }),
    ca: {},
  };
}

async function fromConfig(shell: Shell, option: string | undefined): Promise<Target> {
  const place = await locateConfig(shell, option, elsewhere);
  const { file } = place;
  const { config, problems } = await loadConfig(place, shell);
  if (config === null)
    throw badConfig(problems, shell.cwd, `the configuration ${escapeControls(file)} is wrong: no request was sent`);
  // Only the service matters here; `dropcast check` reports problems with folders and rules.
  const ours = problems.filter(({ key }) => /^(?:service|tls|uploads)\b/.test(key));
  for (const problem of ours) shell.stderr.write(`${formatProblem(problem, shell.cwd)}\n`);
  return {
    ...config.service,
    keyFrom: `service.api_key of ${escapeControls(file)}`,
    config,
    sendOptions: () => sendOptionsOf(config),
    ca: config.service.authorities,
  };
}

const MAX_CERTIFICATE_BYTES = 1024 * 1024;

async function readCertificates(shell: Shell, path: string): Promise<string> {
  const read = await readRegularFile(resolve(shell.cwd, path), MAX_CERTIFICATE_BYTES);
  if (!read.ok) throw new CommandError(`cannot read --ca ${escapeControls(path)}: ${read.message}`, exitCodes.usage);
  const pem = read.bytes.toString('latin1');
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw new CommandError(`--ca ${escapeControls(path)} contains no PEM certificate`, exitCodes.usage);
}
