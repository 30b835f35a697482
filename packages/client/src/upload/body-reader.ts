/** Size of one read. The last read of a body is the part held back until `confirm` and `beforeLastPart` succeed. */
export const partBytes = 1024 * 1024;

/**
 * The bytes of one upload attempt, read by position.
 *
 * `videos.send` and `videos.upload` call `read` at consecutive positions from 0, then `confirm` once, then dispose of
 * the reader. If a server refuses `Expect: 100-continue`, they start again at 0.
 */
export interface BodyReader extends AsyncDisposable {
  /** Number of bytes, if the reader knows it. If the source stated a different size, nothing is sent. */
  readonly sizeBytes?: number;
  /**
   * Changes whenever the bytes may have changed. An upload that broke is continued only if the version is the same as
   * before. Without it, no upload is continued.
   */
  readonly version?: string;
  /**
   * Fills the whole buffer with the bytes from `position`.
   *
   * @param position in bytes, from 0
   * @param into at most 1 MiB; reused for the next part
   * @param signal fires when the upload ends, to stop a slow read
   * @throws {FileChangedError} the source ends before the buffer is full
   */
  read(position: number, into: Buffer, signal: AbortSignal): Promise<void>;
  /**
   * Called after the last read, while the last part is still held back. Throws if the bytes have changed since they
   * were read; the service then never gets a complete file.
   *
   * @param sha256 hash of everything that was read, hex
   * @throws {FileChangedError} the source no longer matches what was read
   */
  confirm(sha256: string, signal: AbortSignal): Promise<void>;
}
