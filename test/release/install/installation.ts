import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, inject, onTestFailed } from 'vitest';
import { startBox } from '../../systemd/box.ts';
import { tail } from '../../systemd/installed.ts';
import { prepareRoot } from '../../systemd/prepare.ts';
import type { Suite } from '../../systemd/rootfs.ts';
import { checkDowngrade } from './checks/downgrade.ts';
import { checkLeaving } from './checks/leaving.ts';
import { checkNewcomer } from './checks/newcomer.ts';
import { checkSignatures } from './checks/signatures.ts';
import { checkUpgrade } from './checks/upgrade.ts';
import type { Machine } from './machine.ts';
import { treeInside } from './repository.ts';

/** A release, installed from its repository on a real Debian. The checks follow from one another. */
export async function installation(name: string, suite: Suite): Promise<void> {
  const ground = await prepareRoot(suite);
  if (typeof ground === 'string') process.stderr.write(`\n*** NOT CHECKED on ${name}: ${ground}\n\n`);
  describe.skipIf(typeof ground === 'string')(name, () => {
    const machine = machineFrom(typeof ground === 'string' ? '' : ground.root);
    for (const check of [checkSignatures, checkNewcomer, checkUpgrade, checkDowngrade, checkLeaving]) check(machine);
  });
}

function machineFrom(root: string): () => Machine {
  let machine: Machine | null = null;
  beforeAll(async () => {
    const tree = inject('releaseTree');
    const folder = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
    const binds = { [tree]: treeInside, [folder('../../ledger/golden')]: '/mnt/golden', [folder('.')]: '/mnt/install' };
    machine = { box: await startBox(root, binds), tree, service: null };
  });
  afterAll(() => machine?.box[Symbol.asyncDispose]());
  beforeEach(() => {
    onTestFailed(async () => {
      if (machine !== null) process.stderr.write(`\n${await tail(machine.box)}\n`);
    });
  });
  return () => {
    if (machine === null) throw new Error('the machine did not boot');
    return machine;
  };
}
