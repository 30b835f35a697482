// Imported first by index.ts, so that an older Node says what is missing before anything else of the package runs.

/** `tls.getCACertificates` came with 22.15, `NODE_USE_ENV_PROXY` with 24.5; older lines than 24.15 are not tested. */
export const leastNode = { major: 24, minor: 15 } as const;

const version = typeof process === 'undefined' ? undefined : process.versions?.node;
const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
if (major < leastNode.major || (major === leastNode.major && minor < leastNode.minor)) {
  const found = version === undefined ? 'not Node' : version;
  throw new Error(`@dropcast/client needs Node ${leastNode.major}.${leastNode.minor} or newer; this is ${found}.`);
}
