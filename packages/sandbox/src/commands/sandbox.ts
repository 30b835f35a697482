import { isLoopbackHost } from '../loopback.ts';
import { OptionsError } from '../options.ts';
import type { OptionProblem, SandboxOptions } from '../options.ts';
import { parseSwitch, profileNamed } from '../profiles/switchboard.ts';
import type { Switches } from '../profiles/switch-table.ts';
import { startSandbox } from '../sandbox.ts';
import type { Sandbox } from '../sandbox.ts';
import { exitCodes, whenAborted } from './terminal.ts';
import type { Terminal } from './terminal.ts';

export interface SandboxCommandOptions {
  readonly host: string;
  readonly expose?: boolean;
  readonly externalUrl?: string;
  readonly cors: readonly string[];
  readonly port: number;
  readonly data?: string;
  readonly seed: number;
  readonly requestsPerHour: number;
  readonly tls?: boolean;
  readonly uploadOrigin: 'same' | 'separate';
  readonly importFrom: 'loopback' | 'anywhere';
  readonly profile?: string;
  /** Initial time of the clock, ISO 8601. */
  readonly now?: string;
  /** Switches, each as `NAME=VALUE`. */
  readonly set?: readonly string[];
  readonly json?: boolean;
}

export type StartOptions = SandboxCommandOptions & {
  /** Folder of media for filling the sandbox; null: a short clip from the package. */
  readonly samples: string | null;
};

/** Runs the local video service until it is stopped. */
export async function sandbox(terminal: Terminal, options: StartOptions): Promise<void> {
  const { shell } = terminal;
  shell.takeOverSignals();
  await using service = await start(terminal, options);
  if (options.json === true) terminal.printJson(machineView(service), shell.stdout);
  else shell.stdout.write(describe(service));
  await whenAborted(shell.stopping);
}

/**
 * Starts the service with the options of the command line, and warns if it is exposed.
 *
 * @param more options of `startSandbox` that the command line does not have
 * @throws the terminal's failure
 */
export async function start(
  { shell, failure }: Terminal,
  options: StartOptions,
  more: Pick<SandboxOptions, 'processingMs'> = {},
): Promise<Sandbox> {
  if (options.expose === true) shell.stderr.write(`${exposureWarning(options)}\n`);
  // If the token is empty, the sandbox generates a random one.
  const adminToken = shell.env['DROPCAST_SANDBOX_TOKEN'] ?? '';
  const { host, port, seed, requestsPerHour, tls = false, uploadOrigin, importFrom } = options;
  const { data: dataDir, expose: exposed = false, externalUrl, cors: corsOrigins, samples: samplesDir } = options;
  const wanted = { host, port, seed, requestsPerHour, tls, uploadOrigin, importFrom, exposed, corsOrigins };
  try {
    const switches = Object.assign({}, ...(options.set ?? []).map(parseSwitch)) as Partial<Switches>;
    return await startSandbox({
      ...wanted,
      ...more,
      profile: profileNamed(options.profile ?? 'default'),
      switches,
      ...(options.now !== undefined && { now: options.now }),
      ...(samplesDir !== null && { samplesDir }),
      ...(adminToken !== '' && { adminToken }),
      ...(dataDir !== undefined && { dataDir }),
      ...(externalUrl !== undefined && { externalUrl }),
    });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof OptionsError)
      throw failure(error.problems.map(asGiven).join('; '), exitCodes.usage, { cause: error });
    if (error instanceof TypeError) throw failure(error.message, exitCodes.usage, { cause: error });
    throw failure(`cannot start the sandbox: ${reasonOf(error, options)}`, exitCodes.failed, {
      cause: error,
    });
  }
}

/** Names the option as it is written on the command line. */
function asGiven({ path, what }: OptionProblem): string {
  const option = String(path[0]);
  return `${GIVEN_AS[option] ?? `--${option}`}: ${what}`;
}

const GIVEN_AS: Readonly<Record<string, string>> = {
  adminToken: '$DROPCAST_SANDBOX_TOKEN',
  corsOrigins: '--cors',
  dataDir: '--data',
  externalUrl: '--external-url',
};

function reasonOf(error: NodeJS.ErrnoException, { host, port }: SandboxCommandOptions): string {
  if (error.code === 'EADDRINUSE')
    return `port ${port} on ${host} is in use; choose another with --port, or 0 for any free port`;
  if (error.code === 'EADDRNOTAVAIL') return `this machine has no address ${host}`;
  return error.message;
}

function exposureWarning({ host, externalUrl, tls = false }: SandboxCommandOptions): string {
  if (isLoopbackHost(host) && externalUrl === undefined)
    return `Warning: other machines still cannot reach ${host}. Add --host 0.0.0.0, or for a proxy on this machine --external-url.`;
  const open = 'Warning: anyone who reaches this port can read players, feeds and media without a key.';
  return tls ? open : `${open} API keys and the admin token cross the network in the clear: use --tls.`;
}

function machineView({ baseUrl, apiKey, adminUrl, adminToken, pageUrl, caPath }: Sandbox) {
  return {
    v: 1,
    base_url: baseUrl,
    api_key: apiKey,
    admin_url: adminUrl,
    admin_token: adminToken,
    page_url: pageUrl,
    ...(caPath !== undefined && { ca_path: caPath }),
  };
}

function describe(service: Sandbox): string {
  const { baseUrl, apiKey, pageUrl, adminUrl, adminToken, caPath } = service;
  const trust = caPath === undefined ? '' : ` --cacert ${quoted(caPath)}`;
  return `The sandbox runs at ${baseUrl} with the key ${apiKey}

Open in a browser:
  ${pageUrl}

Try it:
  curl${trust} -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/channels

For dropcast commands such as dropcast videos upload FILE --wait:
  export DROPCAST_BASE_URL=${baseUrl} DROPCAST_API_KEY=${apiKey}

In dropcast.yaml:
  service:
    base_url: ${baseUrl}
    api_key: !env DROPCAST_API_KEY
${caPath === undefined ? '' : trustHint(caPath)}
Add samples, inject faults, set the clock (this lists how):
  curl${trust} -H 'Authorization: Bearer ${adminToken}' ${adminUrl}

Press Ctrl-C to stop.
`;
}

function trustHint(caPath: string): string {
  return `
So that Node programs, including dropcast, trust its certificate:
  export NODE_EXTRA_CA_CERTS=${quoted(caPath)}
`;
}

/** Quotes a path for a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
