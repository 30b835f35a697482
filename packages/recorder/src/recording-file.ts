import { open, type FileHandle } from 'node:fs/promises';
import { recordingVersion, type RecordedExchange, type RecordingHead } from './recording.ts';

/** A recording being written: complete lines, one per exchange, readable only by its owner. */
export class RecordingFile implements AsyncDisposable {
  readonly #file: FileHandle;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @throws EEXIST for an existing file; other disk errors */
  static async create(path: string, head: RecordingHead): Promise<RecordingFile> {
    const recording = new RecordingFile(await open(path, 'wx', 0o600));
    await recording.#append(head);
    return recording;
  }

  /** Appends a line; lines keep the order of the calls. @throws the disk error, even if an earlier line caused it */
  add(exchange: RecordedExchange): Promise<void> {
    return this.#append(exchange);
  }

  /** Syncs and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last.catch(() => {});
    await this.#file.sync();
    await this.#file.close();
  }

  #append(line: object): Promise<void> {
    this.#last = this.#last.then(() => this.#file.appendFile(`${JSON.stringify(line)}\n`));
    return this.#last;
  }
}

/**
 * Writes a whole recording.
 *
 * @param to base address of the service
 * @throws EEXIST for an existing file; other disk errors
 */
export async function writeRecording(path: string, to: string, exchanges: readonly RecordedExchange[]): Promise<void> {
  const at = exchanges[0]?.at ?? new Date().toISOString();
  await using file = await RecordingFile.create(path, { kind: 'recording', v: recordingVersion, to, at });
  for (const exchange of exchanges) await file.add(exchange);
}
