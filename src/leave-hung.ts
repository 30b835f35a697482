/** How long pending calls may take, in milliseconds: calls that return at all are faster. */
const patienceMs = 2_000;

/**
 * Ends this process if its command has finished and only pending file system calls keep it alive, for example on a
 * share whose server is gone. Neither `process.exit` nor a handled signal can end it, because the thread blocked in the
 * kernel does not return (measured). Replacing the process with another program does end it, and is the only way to
 * preserve the exit code.
 *
 * @param exitCode called at the very end
 */
export function leaveIfHung(exitCode: () => number): void {
  setTimeout(() => {
    const isHung = process.getActiveResourcesInfo().some((resource) => resource.startsWith('FSReq'));
    if (isHung) process.execve?.('/bin/sh', ['sh', '-c', `exit ${exitCode()}`], {});
  }, patienceMs).unref();
}
