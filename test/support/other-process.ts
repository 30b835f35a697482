import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Another process, which runs a module given as text. The end of its block kills it. */
export class OtherProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #output: NodeJS.ReadableStream;
  readonly #ended: Promise<unknown>;
  /** What it has written. */
  text = '';

  /** @param uid of another user, whom only root may choose */
  constructor(script: string, uid?: number) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
      ...(uid !== undefined && { uid, gid: uid }),
    });
    child.stdout.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
    this.#output = child.stdout;
    this.#ended = once(child, 'close');
    this.#child = child;
  }

  get pid(): number {
    return this.#child.pid ?? NaN;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  start(): void {
    this.#child.stdin?.write('start\n');
  }

  /** Whole lines, of which the last one may be missing. */
  lines(): readonly string[] {
    return this.text.split('\n').slice(0, -1);
  }

  async hasWritten(lines: number): Promise<void> {
    let hasEnded = false;
    while (this.lines().length < lines) {
      if (hasEnded) throw new Error(`it ended after ${this.lines().length} of ${lines} lines`);
      const more = once(this.#output, 'data').then(() => false);
      hasEnded = await Promise.race([more, this.#ended.then(() => true)]);
    }
  }

  async hasEnded(): Promise<void> {
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
