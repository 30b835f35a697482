import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callDaemon } from '../../../src/daemon/control/client.ts';
import type { FileView } from '../../../src/view/files/file-view.ts';
import type { FilesView } from '../../../src/view/files/files-view.ts';
import { until } from '../../support/until.ts';
import type { Exit } from '../judge/evidence.ts';
import { startProgram } from '../world/program-process.ts';
import type { ProgramProcess } from '../world/program-process.ts';
import type { OwnNetwork } from './own-network.ts';
import type { SilentProxy } from './silent-proxy.ts';

/** A member of a fleet: a process of the program, again and again. */
export interface FleetMember {
  readonly name: string;
  /** Its way to PostgreSQL. */
  readonly proxy: SilentProxy;
  /** Its way to everything, where it has one of its own. */
  readonly network: OwnNetwork | null;
  /** Resolves when it is ready. @param program another release */
  start(program?: string): Promise<void>;
  /** As systemd does: again, until it starts. */
  startsAtLast(program?: string): Promise<void>;
  process(): ProgramProcess;
  isRunning(): boolean;
  end(signal: NodeJS.Signals): Promise<void>;
  files(): Promise<readonly FileView[]>;
}

export interface MemberParts {
  readonly proxy: SilentProxy;
  readonly network: OwnNetwork | null;
  /** Where its configuration and its state are. */
  readonly folder: string;
  readonly program: string;
  /** How wrong its wall clock is. */
  readonly clockMs: number;
  ended(exit: Exit): void;
}

export class Member implements FleetMember {
  readonly name: string;
  readonly proxy: SilentProxy;
  readonly network: OwnNetwork | null;
  readonly #parts: MemberParts;
  #program: string;
  #process: ProgramProcess | null = null;

  constructor(name: string, parts: MemberParts) {
    this.name = name;
    this.proxy = parts.proxy;
    this.network = parts.network;
    this.#parts = parts;
    this.#program = parts.program;
  }

  async start(program = this.#program): Promise<void> {
    this.#program = program;
    const process = this.#run('run');
    this.#process = process;
    await until(`${this.name} is ready`, () => process.output().includes('"Ready"') || !process.isRunning(), {
      seen: () => process.output(),
    });
    if (process.isRunning()) return;
    this.#process = null;
    throw new Error(`${this.name} did not start: ${process.output()}`);
  }

  async startsAtLast(program = this.#program): Promise<void> {
    const isStarted = async (): Promise<true> => {
      await this.start(program);
      return true;
    };
    await until(`${this.name} starts at last`, isStarted);
  }

  process(): ProgramProcess {
    if (this.#process === null) throw new Error(`${this.name} was not started`);
    return this.#process;
  }

  isRunning(): boolean {
    return this.#process?.isRunning() ?? false;
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const process = this.#process;
    if (process === null) return;
    this.#process = null;
    process.send(signal);
    this.#parts.ended(await process.end());
  }

  async files(): Promise<readonly FileView[]> {
    const socket = join(this.#parts.folder, 'state/dropcast.sock');
    // One that sleeps answers nothing.
    const answer = await Promise.race([
      callDaemon<FilesView>(socket, 'GET', '/files?limit=1000').catch(() => null),
      delay(5_000, null, { ref: false }),
    ]);
    return answer?.files ?? [];
  }

  /** What a command of this member prints. */
  async says(...command: readonly string[]): Promise<string> {
    const process = this.#run(...command);
    await process.end();
    return process.output();
  }

  /** For a failure. */
  lastWords(): string {
    return `${this.name}: ${this.#process?.output().slice(-4_000) ?? 'it does not run'}`;
  }

  #run(...command: readonly string[]): ProgramProcess {
    const { clockMs, folder, network } = this.#parts;
    const args = [...command, '--config', join(folder, 'dropcast.yaml')];
    const env = {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'shifted-clock.ts')}`,
      SHIFTED_CLOCK_MS: `${clockMs}`,
    };
    return startProgram(this.#program, args, clockMs === 0 ? {} : env, network?.within);
  }
}
