import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { freePort } from '../support/free-port.ts';
import { tool } from './tools.ts';

/** A running Prism. Leaving its block stops it. */
export interface Prism extends AsyncDisposable {
  readonly origin: string;
}

/** @param args `['mock', 'openapi.yaml']`, for example */
export async function startPrism(args: readonly string[], cwd: string): Promise<Prism> {
  const port = await freePort();
  const child = spawn(tool('prism'), [...args, '--port', String(port)], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(String(chunk)));
  const lines = createInterface(child.stdout);
  const isListening = new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      said.push(line);
      if (line.includes('Prism is listening')) resolve();
    });
    lines.on('close', () => reject(new Error(`Prism ended:\n${said.join('\n')}`)));
  });
  await isListening;
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
}
