import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { MessageTarget } from '../target.ts';
import type { Envelope } from '../message.ts';
import { failed, quoted } from './sent.ts';
import type { Attempt, Sent } from './sent.ts';
import { asJson } from './webhook.ts';

/** Environment variables passed on to a command; others may hold the API key. */
const passedOn = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ'];

const mostErrorCharacters = 4_000;

/** Starts the program without a shell, writes the message to its standard input as JSON, and waits until it exits. */
export async function sendToCommand(
  { argv }: Extract<MessageTarget, { type: 'command' }>,
  message: Envelope,
  attempt: Attempt,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Sent> {
  const [program = '', ...args] = argv;
  const child = spawn(program, args, {
    cwd: '/',
    env: Object.fromEntries(passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    stdio: ['pipe', 'ignore', 'pipe'],
    // Runs in its own process group, so that its children are killed with it.
    detached: true,
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < mostErrorCharacters) errors += text;
  });
  // A program may ignore its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${JSON.stringify(asJson(message))}\n`);
  const limit = AbortSignal.any([attempt.signal, AbortSignal.timeout(attempt.timeoutMs)]);
  const kill = (): void => endGroup(child);
  limit.addEventListener('abort', kill, { once: true });
  try {
    if (limit.aborted) kill();
    const ended = await endOf(child);
    if (attempt.signal.aborted) return failed('dropcast was stopped', { mayHaveArrived: true });
    if (limit.aborted)
      return failed(`did not exit within ${Math.round(attempt.timeoutMs / 1000)} s`, { mayHaveArrived: true });
    if (ended === 0) return { ok: true, answer: 'exited with 0' };
    const said = quoted(errors, []);
    return failed(`${typeof ended === 'number' ? `exited with ${ended}` : ended}${said === '' ? '' : `: ${said}`}`);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    return failed(
      `cannot be started (${code})${code === 'EACCES' ? ': not executable; in the service, run `sudo dropcast setup`' : ''}`,
    );
  } finally {
    limit.removeEventListener('abort', kill);
    child.stderr.destroy();
  }
}

/** @returns the exit code, or a description of any other end @throws if the program cannot be started */
function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    // Not 'close', because the program's children may keep its output open.
    child.once('exit', (code, signal) => resolve(code ?? `was terminated by ${signal}`));
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already exited.
  }
}
