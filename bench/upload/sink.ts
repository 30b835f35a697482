import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { output } from '../child.ts';

/** An upload host that throws everything away, in a process of its own. */
export interface Sink extends AsyncDisposable {
  readonly origin: string;
  /** Every upload so far. */
  readonly puts: readonly Put[];
}

/** An upload that the sink received. Times are milliseconds of the monotonic clock. */
export interface Put {
  /** When its connection was accepted, or had answered the upload before. */
  readonly sinceMs: number;
  readonly endedMs: number;
  readonly bytes: number;
}

/** Compiles the sink, and makes it a certificate. @throws {Error} without cc, OpenSSL or its headers */
export async function buildSink(folder: string, address = '127.0.0.1'): Promise<void> {
  await output('cc', [
    '-O2',
    '-o',
    join(folder, 'sink'),
    join(import.meta.dirname, 'sink.c'),
    '-lssl',
    '-lcrypto',
    '-lpthread',
  ]);
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  const names = ['-subj', '/CN=sink', '-addext', `subjectAltName=IP:${address}`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await output('openssl', ['req', '-x509', '-days', '2', ...key, ...files, ...names]);
}

/**
 * @param folder where it was built
 * @param at.address where it listens; as in its certificate
 * @param at.inside the command that runs it in another network namespace
 */
export async function startSink(
  folder: string,
  scheme: 'http' | 'https',
  { address = '127.0.0.1', inside = [] }: { readonly address?: string; readonly inside?: readonly string[] } = {},
): Promise<Sink> {
  const tls = scheme === 'https' ? [join(folder, 'key.pem'), join(folder, 'cert.pem'), address] : [];
  const [command = '', ...args] = [...inside, join(folder, 'sink'), ...tls];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout);
  const [port] = (await once(lines, 'line')) as [string];
  const puts: Put[] = [];
  lines.on('line', (line) => {
    const [sinceMs = 0, endedMs = 0, bytes = 0] = line.split(' ').map(Number);
    puts.push({ sinceMs, endedMs, bytes });
  });
  const ended = once(child, 'exit');
  return {
    origin: `${scheme}://${address}:${port}`,
    puts,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
