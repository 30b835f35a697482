/** Bytes read at once; the last of these parts is the one that the commit gate holds back. */
export const partBytes = 1024 * 1024;

/** What an upload is made of: a file on disk, or a stream of known length. */
export interface BodySource {
  readonly size: number;
  /**
   * Fills the buffer from `position`. Positions follow on one another, or begin again at 0.
   * @param signal ends the wait of a source that can be slow
   * @throws {FileChangedError} if the source ends before
   */
  read(position: number, into: Buffer, signal: AbortSignal): Promise<void>;
  /**
   * Makes sure, after the last part was read, that nothing is missing or was replaced meanwhile.
   * @param sha256 of what was read
   * @throws {FileChangedError} if it is not all of the accepted version
   */
  confirm(sha256: string, signal: AbortSignal): Promise<void>;
}
