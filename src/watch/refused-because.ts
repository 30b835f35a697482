/** What the system refused, with what a person does about it where that is known. */
export function refusedBecause(what: string, code: string): string {
  const sentence = `${what} (${code})`;
  if (code !== 'EACCES' && code !== 'EPERM') return sentence;
  return `${sentence}: the user of dropcast needs a group or an access control list for it; \`sudo dropcast systemd drop-in\` says which`;
}
