/** Whether a host (as `URL.hostname` gives it) is this machine: the only one that may be spoken to without TLS. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
