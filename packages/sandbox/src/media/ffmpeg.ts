import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import pLimit from 'p-limit';

/** Finds the first program of this name. @param path value of the PATH variable @returns null if there is none */
export function findProgram(name: string, path: string): string | null {
  const places = path.split(delimiter).filter((folder) => folder !== '');
  return places.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

export interface FfmpegRun {
  /** Input options, which precede the input on the command line. */
  readonly input: readonly string[];
  readonly inputPath: string;
  readonly output: readonly string[];
  readonly outputPath: string;
}

/**
 * Runs ffmpeg on untrusted files: no shell, no network, no prompts, at most two processes at a time, with a timeout.
 */
export class Ffmpeg implements Disposable {
  readonly #program: string;
  readonly #limit = pLimit(2);
  readonly #closing = new AbortController();

  /** @param program path of ffmpeg */
  constructor(program: string) {
    this.#program = program;
  }

  /** Runs ffmpeg. @returns whether it succeeded; also false after a timeout or close */
  run(work: FfmpegRun): Promise<boolean> {
    return this.#limit(async () => {
      const { signal } = this.#closing;
      const options = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL', signal, maxBuffer: 1 << 20 } as const;
      return execute(this.#program, argumentsOf(work), options).then(
        () => true,
        () => false,
      );
    });
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }
}

const execute = promisify(execFile);
const TIMEOUT_MS = 20_000;

function argumentsOf({ input, inputPath, output, outputPath }: FfmpegRun): string[] {
  const quiet = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-y'];
  const bounded = ['-timelimit', String(TIMEOUT_MS / 1000), '-max_alloc', MAX_BLOCK_BYTES, '-max_pixels', MAX_PIXELS];
  // A file may refer to others, even on the network, for example as a playlist or by a reference in a MOV. `file:`
  // keeps a path from being read as a URL.
  const confined = ['-protocol_whitelist', 'file', '-threads', '1', ...input, '-i', `file:${inputPath}`];
  return [...quiet, ...bounded, ...confined, ...output, `file:${outputPath}`];
}

/** 8192 x 8192, which limits a frame to some 100 MB, whatever dimensions the file declares. */
const MAX_PIXELS = String(8192 * 8192);
const MAX_BLOCK_BYTES = String(512 * 1024 * 1024);

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
