import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/ledger.ts';
import { scratchDirectory } from './scratch.ts';

const ledgerModule = JSON.stringify(new URL('../../src/ledger/ledger.ts', import.meta.url).href);
const factsModule = JSON.stringify(new URL('../pipeline/some-facts.ts', import.meta.url).href);

/** Inserts files and moves each on, and says so only after each write has resolved. */
const writer = (stateDir: string, run: number): string => `
  import { writeSync } from 'node:fs';
  import { openLedger } from ${ledgerModule};
  import { created, someFacts, uploaded } from ${factsModule};
  const ledger = await openLedger(${JSON.stringify(stateDir)});
  for (let n = 0; ; n += 1) {
    const id = 'f_${run}_' + n;
    await ledger.insert(someFacts({ id }));
    writeSync(1, id + ' 0\\n');
    let facts = await ledger.load(id);
    for (const step of [created, uploaded]) {
      facts = await ledger.save({ ...facts, ...step });
      writeSync(1, id + ' ' + facts.rev + '\\n');
    }
  }
`;

/** Takes the ledger and keeps it. */
const holder = (stateDir: string): string => `
  import { openLedger } from ${ledgerModule};
  await openLedger(${JSON.stringify(stateDir)});
  process.stdout.write('open\\n');
  setInterval(() => {}, 1000);
`;

/** Takes the ledger for a moment, again and again, as commands do while no daemon runs. */
const reader = (stateDir: string): string => `
  import { openLedger } from ${ledgerModule};
  for (let n = 0; n < 10; n += 1) await (await openLedger(${JSON.stringify(stateDir)}))[Symbol.asyncDispose]();
  process.stdout.write('all read\\n');
`;

/** A process that is killed at the end at the latest. */
class Writer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #begun: Promise<unknown>;
  /** What it has said. */
  text = '';

  constructor(script: string) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
    this.#begun = once(child.stdout, 'data');
    this.#ended = once(child, 'close');
    this.#child = child;
  }

  async hasBegun(): Promise<void> {
    await this.#begun;
  }

  async hasEnded(): Promise<void> {
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

describe('a ledger of another process', () => {
  test('is refused while that lives, and free when it is killed', async () => {
    await using scratch = await scratchDirectory();
    {
      await using other = new Writer(holder(scratch.path));
      await other.hasBegun();
      await expect(openLedger(scratch.path)).rejects.toThrow('is in use by another process');
    }
    await using ledger = await openLedger(scratch.path);
    expect(await ledger.counts()).toEqual({});
  });

  test('is waited for when others only look: many at once all get their turn', async () => {
    await using scratch = await scratchDirectory();
    await (await openLedger(scratch.path))[Symbol.asyncDispose]();
    const readers = Array.from({ length: 16 }, () => new Writer(reader(scratch.path)));
    for (const one of readers) await one.hasEnded();
    expect(readers.map(({ text }) => text)).toEqual(readers.map(() => 'all read\n'));
  });
});

describe('kill -9', () => {
  const kills = 20;

  test(`${kills} times: nothing that was acknowledged is lost, and the ledger is sound`, async () => {
    await using scratch = await scratchDirectory();
    const acknowledged = new Map<string, number>();
    for (let run = 0; run < kills; run += 1) {
      const child = new Writer(writer(scratch.path, run));
      await child.hasBegun();
      // Somewhere in the middle of a write: each takes a millisecond or some.
      await new Promise((resolve) => setTimeout(resolve, 5 + 7 * run));
      await child[Symbol.asyncDispose]();
      const whole = child.text.slice(0, child.text.lastIndexOf('\n')).split('\n');
      for (const line of whole) acknowledged.set(line.split(' ')[0] ?? '', Number(line.split(' ')[1]));
    }
    // Opening it checks its integrity.
    await using ledger = await openLedger(scratch.path);
    expect(acknowledged.size).toBeGreaterThan(kills);
    for (const [id, rev] of acknowledged) expect((await ledger.load(id))?.rev ?? -1).toBeGreaterThanOrEqual(rev);
  });
});
