import { open, type FileHandle } from 'node:fs/promises';
import type { RecordedExchange, RecordingHead } from './recording.ts';

/** A recording that is being written: whole lines, one per exchange, readable by its owner only. */
export class RecordingFile implements AsyncDisposable {
  readonly #file: FileHandle;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @throws EEXIST when there is a file already, and other errors of the disk */
  static async create(path: string, head: RecordingHead): Promise<RecordingFile> {
    const recording = new RecordingFile(await open(path, 'wx', 0o600));
    await recording.#append(head);
    return recording;
  }

  /** Lines are written in the order of the calls. @throws the error of the disk, also one of an earlier line */
  add(exchange: RecordedExchange): Promise<void> {
    return this.#append(exchange);
  }

  /** Makes it durable, and closes it. */
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
