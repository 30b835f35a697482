import { startSandbox } from '../sandbox/sandbox.ts';
import { printJson } from './output/json.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';
import { whenAborted } from './start.ts';

export interface SandboxCommandOptions {
  readonly host: string;
  readonly port: number;
  readonly data?: string;
  readonly seed: number;
  readonly requestsPerHour: number;
  readonly json?: boolean;
}

/** `dropcast sandbox`: the local video service, until it is stopped. */
export async function sandbox(shell: Shell, options: SandboxCommandOptions): Promise<void> {
  shell.takeOverSignals();
  await using service = await start(options);
  if (options.json === true) printJson({ v: 1, base_url: service.baseUrl, api_key: service.apiKey }, shell.stdout);
  else shell.stdout.write(describe(service));
  await whenAborted(shell.stopping);
}

async function start({
  host,
  port,
  data,
  seed,
  requestsPerHour,
}: SandboxCommandOptions): ReturnType<typeof startSandbox> {
  try {
    return await startSandbox({ host, port, seed, requestsPerHour, ...(data !== undefined && { dataDir: data }) });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof TypeError) throw new CommandError(error.message, exitCodes.usage, { cause: error });
    throw new CommandError(`the sandbox could not start: ${error.message}`, exitCodes.failed, { cause: error });
  }
}

function describe({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): string {
  return `The sandbox runs at ${baseUrl} with the key ${apiKey}

Try it:
  curl -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/channels

In dropcast.yaml:
  service:
    base_url: ${baseUrl}
    api_key: !env DROPCAST_API_KEY     # export DROPCAST_API_KEY=${apiKey}

Ctrl-C ends it.
`;
}
