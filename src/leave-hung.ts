/** A call that comes back at all comes back sooner. */
const patienceMs = 2_000;

/**
 * Ends this process when its command has ended and only pending file system calls keep it alive, as on a share whose
 * server is gone. Neither `process.exit` nor a handled signal can, because the thread blocked in the kernel does not
 * return (measured). It does end when the process becomes another program, which is the only way to preserve the exit
 * code.
 *
 * @param exitCode called at the very end
 */
export function leaveIfHung(exitCode: () => number): void {
  setTimeout(() => {
    const isHung = process.getActiveResourcesInfo().some((resource) => resource.startsWith('FSReq'));
    if (isHung) process.execve?.('/bin/sh', ['sh', '-c', `exit ${exitCode()}`], {});
  }, patienceMs).unref();
}
