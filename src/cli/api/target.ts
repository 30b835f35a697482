import { resolve } from 'node:path';
import { parseBaseUrl } from '../../config/addresses.ts';
import type { Secret } from '../../config/config.ts';
import { readRegularFile } from '../../config/file-access.ts';
import { ConfigNotFoundError, findConfig } from '../../config/find.ts';
import type { ConfigPlace } from '../../config/find.ts';
import { loadConfig } from '../../config/load.ts';
import { formatProblem } from '../../config/problem.ts';
import { TaggedValue } from '../../config/raw-tree.ts';
import { resolveApiKey } from '../../config/secrets.ts';
import { visible } from '../output/visible.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** The service that a command speaks to. */
export interface Target {
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Where the key was found, for messages. */
  readonly keyFrom: string;
  readonly sendKeyTo: readonly string[];
  /** Certificates, PEM. */
  readonly ca: string | null;
}

export interface TargetOptions {
  readonly config?: string;
  readonly baseUrl?: string;
  readonly ca?: string;
}

/** Where the service is, and its key, when no configuration says it. */
const URL_VARIABLE = 'DROPCAST_BASE_URL';
const KEY_VARIABLE = 'DROPCAST_API_KEY';

/**
 * Which service is meant: `--base-url` with the key in `$DROPCAST_API_KEY`, else `--config`, else `$DROPCAST_BASE_URL` with that
 * key, else what the configuration of the daemon says.
 * Folders and state directory of that configuration are not looked at.
 *
 * @throws {CommandError} 2 for a wrong address or certificate file, 78 for a wrong or missing configuration or key
 */
export async function findTarget(shell: Shell, options: TargetOptions): Promise<Target> {
  const ca = options.ca === undefined ? null : await readCertificates(shell, options.ca);
  const address = addressOf(shell, options);
  const service = address === null ? await fromConfig(shell, options.config) : await fromEnvironment(shell, address);
  return { ...service, ca };
}

interface Address {
  readonly text: string;
  /** What said it, for messages. */
  readonly from: string;
}

/** Null when a configuration says it. An empty variable is as good as none. */
function addressOf({ env }: Shell, { baseUrl, config }: TargetOptions): Address | null {
  if (baseUrl !== undefined) return { text: baseUrl, from: '--base-url' };
  const text = env[URL_VARIABLE] ?? '';
  return config !== undefined || text === '' ? null : { text, from: `$${URL_VARIABLE}` };
}

type Service = Omit<Target, 'ca'>;

async function fromEnvironment(shell: Shell, { text, from }: Address): Promise<Service> {
  const address = parseBaseUrl(text);
  if (!address.ok) throw new CommandError(`${from}: ${address.message}`, exitCodes.usage);
  const tag = new TaggedValue('env', KEY_VARIABLE);
  const key = await resolveApiKey(tag, { configFile: shell.cwd, mode: 0, environment: shell });
  if (key.secret === null) {
    const why = key.findings.map(({ message }) => message).join('; ');
    throw new CommandError(`${from} needs the key of the service: ${why}`, exitCodes.badConfig);
  }
  return { baseUrl: address.value, apiKey: key.secret, keyFrom: `$${KEY_VARIABLE}`, sendKeyTo: [] };
}

async function fromConfig(shell: Shell, option: string | undefined): Promise<Service> {
  const place = await locate(shell, option);
  const { file } = place;
  const { config, problems } = await loadConfig(place, shell);
  const lines = problems.map((problem) => formatProblem(problem, shell.cwd));
  if (config === null) {
    const why = `the configuration ${visible(file)} is wrong: the service was not asked`;
    throw new CommandError([...lines, why].join('\n'), exitCodes.badConfig);
  }
  // What is odd about folders and rules is for `dropcast check` to say; here only the key is used.
  const ours = problems.flatMap(({ key }, index) => (key.startsWith('service') ? lines.slice(index, index + 1) : []));
  for (const line of ours) shell.stderr.write(`${line}\n`);
  return { ...config.service, keyFrom: `service.api_key of ${visible(file)}` };
}

async function locate(shell: Shell, option: string | undefined): Promise<ConfigPlace> {
  try {
    return await findConfig(option, shell);
  } catch (error) {
    if (!(error instanceof ConfigNotFoundError)) throw error;
    throw new CommandError(
      `${visible(error.message)}\nName the service with --base-url URL or $${URL_VARIABLE} and put its key into $${KEY_VARIABLE}; \`dropcast sandbox\` starts one on this machine to try things with`,
      exitCodes.badConfig,
    );
  }
}

const MAX_CERTIFICATE_BYTES = 1024 * 1024;

async function readCertificates(shell: Shell, path: string): Promise<string> {
  const read = await readRegularFile(resolve(shell.cwd, path), MAX_CERTIFICATE_BYTES);
  if (!read.ok) throw new CommandError(`cannot read --ca ${visible(path)}: ${read.message}`, exitCodes.usage);
  const pem = read.bytes.toString('latin1');
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw new CommandError(`--ca ${visible(path)} holds no certificate in PEM form`, exitCodes.usage);
}
