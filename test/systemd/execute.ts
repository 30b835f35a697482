import { spawn } from 'node:child_process';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Terms {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** After so long it is killed, and ends with code 124 as with timeout(1). Two minutes without it. */
  readonly timeoutMs?: number;
}

/** Runs a program to its end, whatever that is. A program that cannot be started ends with 127, as in a shell. */
export function execute(command: readonly [string, ...string[]], terms: Terms = {}): Promise<Ended> {
  const [file, ...args] = command;
  const timeout = AbortSignal.timeout(terms.timeoutMs ?? 120_000);
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      signal: timeout,
      killSignal: 'SIGKILL',
      ...(terms.env && { env: { ...process.env, ...terms.env } }),
      ...(terms.cwd !== undefined && { cwd: terms.cwd }),
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => stdout.push(part));
    child.stderr.on('data', (part: Buffer) => stderr.push(part));
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') return;
      resolve({ code: 127, stdout: '', stderr: `${file} is not installed` });
    });
    child.on('close', (status) => {
      const code = timeout.aborted ? 124 : (status ?? 137);
      resolve({ code, stdout: String(Buffer.concat(stdout)), stderr: String(Buffer.concat(stderr)) });
    });
    // A program that ends without reading all of its input is not our failure: its exit code says what happened.
    child.stdin.on('error', () => undefined);
    child.stdin.end(terms.input ?? '');
  });
}
