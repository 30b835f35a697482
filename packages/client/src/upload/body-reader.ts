/** Bytes read at once. The last read of a body is the part that leaves only after `confirm` and `beforeLastPart`. */
export const partBytes = 1024 * 1024;

/**
 * The bytes of one upload attempt, read by position.
 *
 * `videos.send` and `videos.upload` call `read` with positions that follow one another from 0, then `confirm` once,
 * then dispose of the reader. A server that refuses `Expect: 100-continue` makes them start again at 0.
 */
export interface BodyReader extends AsyncDisposable {
  /** How many bytes there are, if the reader knows. When the source said another number, nothing is sent. */
  readonly sizeBytes?: number;
  /**
   * Fills the whole buffer with the bytes from `position`.
   *
   * @param position in bytes, from 0
   * @param into at most 1 MiB; reused for the next part
   * @param signal fires when the upload ends; a slow read stops then
   * @throws {FileChangedError} the source ends before the buffer is full
   */
  read(position: number, into: Buffer, signal: AbortSignal): Promise<void>;
  /**
   * Called after the last read, while the last part is still held back: throw if the bytes changed since they were
   * read, and the service never gets a complete file.
   *
   * @param sha256 of everything that was read, hex
   * @throws {FileChangedError} the source is not what was read
   */
  confirm(sha256: string, signal: AbortSignal): Promise<void>;
}
