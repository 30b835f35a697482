// Imported first by index.ts, so that an older Node says what is missing before anything else of the package runs.

/** The oldest line that got supports; 22.0.0 itself is tested. */
export const leastNode = { major: 22, minor: 0 } as const;

const version = typeof process === 'undefined' ? undefined : process.versions?.node;
const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);

/** Whether the agents of this Node know proxies: 22.21 and 24.5 brought them. */
export const knowsProxies = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);

if (major < leastNode.major || (major === leastNode.major && minor < leastNode.minor)) {
  const found = version === undefined ? 'not Node' : version;
  throw new Error(`@dropcast/client needs Node ${leastNode.major} or newer; this is ${found}.`);
}
