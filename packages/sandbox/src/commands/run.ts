import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import type { Sandbox } from '../sandbox.ts';
import { start, type StartOptions } from './sandbox.ts';
import type { Terminal } from './terminal.ts';

/**
 * Starts a sandbox, runs a command with its addresses in the environment, and stops the sandbox.
 *
 * @returns the exit code of the command; 128 plus the number of the signal that ended it, as shells do
 * @throws the terminal's failure if the sandbox or the command cannot start
 */
export async function runAgainst(
  terminal: Terminal,
  options: StartOptions,
  [program = '', ...args]: readonly string[],
): Promise<number> {
  const { shell, failure } = terminal;
  shell.takeOverSignals();
  await using sandbox = await start(terminal, options, { processingMs: { min: 0, max: 0 } });
  const child = spawn(program, args, { stdio: 'inherit', env: { ...shell.env, ...environmentOf(sandbox) } });
  const forward = (): void => {
    const signal = shell.stopping.reason as NodeJS.Signals;
    // Ctrl-C reaches the command from the terminal; forwarding it would count as a second one.
    if (signal !== 'SIGINT' || ![0, 1, 2].some((stream) => isatty(stream))) child.kill(signal);
  };
  shell.stopping.addEventListener('abort', forward);
  if (shell.stopping.aborted) forward();
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return signal === null ? (code ?? 0) : 128 + constants.signals[signal];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw failure(`there is no program ${program} on the PATH`, 127, { cause: error });
    throw failure(`cannot start ${program}: ${message}`, 126, { cause: error });
  } finally {
    shell.stopping.removeEventListener('abort', forward);
  }
}

function environmentOf({ baseUrl, apiKey, adminUrl, adminToken, caPath }: Sandbox): NodeJS.ProcessEnv {
  return {
    DROPCAST_BASE_URL: baseUrl,
    DROPCAST_API_KEY: apiKey,
    DROPCAST_SANDBOX_URL: adminUrl,
    DROPCAST_SANDBOX_TOKEN: adminToken,
    ...(caPath !== undefined && { NODE_EXTRA_CA_CERTS: caPath }),
  };
}
