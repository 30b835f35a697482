import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { output } from '../child.ts';

/** An upload host that throws everything away, in a process of its own. */
export interface Sink extends AsyncDisposable {
  readonly origin: string;
}

/** Compiles the sink, and makes it a certificate for 127.0.0.1. @throws {Error} without cc, OpenSSL or its headers */
export async function buildSink(folder: string): Promise<void> {
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
  const names = ['-subj', '/CN=sink', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await output('openssl', ['req', '-x509', '-days', '2', ...key, ...files, ...names]);
}

/** @param folder where it was built */
export async function startSink(folder: string, scheme: 'http' | 'https'): Promise<Sink> {
  const tls = scheme === 'https' ? [join(folder, 'key.pem'), join(folder, 'cert.pem')] : [];
  const child = spawn(join(folder, 'sink'), tls, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
  const ended = once(child, 'exit');
  return {
    origin: `${scheme}://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
