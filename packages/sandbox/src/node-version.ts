// Entry points import this file first, so that an older Node reports the required version before other code fails.

/** The oldest Node with the transactions of `node:sqlite`. 22.16.0 itself is tested. */
const leastNode = { major: 22, minor: 16 } as const;

const { node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);

if (major < leastNode.major || (major === leastNode.major && minor < leastNode.minor))
  throw new Error(`@dropcast/sandbox needs Node ${leastNode.major}.${leastNode.minor} or newer; this is ${node}.`);
