// index.ts imports this file first, so that an older Node reports the required version before other code fails.

/** The oldest supported Node line. 22.0.0 itself is tested. */
export const leastNode = { major: 22, minor: 0 } as const;

const version = typeof process === 'undefined' ? undefined : process.versions?.node;
const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);

/** Whether Node's HTTP agents support proxies, which 22.21 and 24.5 introduced. */
export const knowsProxies = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);

if (major < leastNode.major || (major === leastNode.major && minor < leastNode.minor)) {
  const found = version === undefined ? 'not Node' : version;
  throw new Error(`@dropcast/client needs Node ${leastNode.major} or newer; this is ${found}.`);
}
