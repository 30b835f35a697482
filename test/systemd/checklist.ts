import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, onTestFailed } from 'vitest';
import { startBox } from './box.ts';
import type { Box } from './box.ts';
import { checkAccess } from './checks/access.ts';
import { checkConfinement } from './checks/confinement.ts';
import { checkDoctor } from './checks/doctor.ts';
import { checkFleet } from './checks/fleet.ts';
import { checkFolders } from './checks/folders.ts';
import { checkGuide } from './checks/guide.ts';
import { checkHostileNames } from './checks/hostile-names.ts';
import { checkInstallation } from './checks/install.ts';
import { checkInstances } from './checks/instances.ts';
import { checkLifeCycle } from './checks/lifecycle.ts';
import { checkLogs } from './checks/logs.ts';
import { checkMishaps } from './checks/mishaps.ts';
import { checkRecipes } from './checks/recipes.ts';
import { checkRefusals } from './checks/refusals.ts';
import { checkReload } from './checks/reload.ts';
import { checkSecrets } from './checks/secrets.ts';
import { checkSetup } from './checks/setup.ts';
import { checkStart } from './checks/start.ts';
import { checkUpgrade } from './checks/upgrade.ts';
import { tail } from './installed.ts';
import type { Scene } from './installed.ts';
import { prepare } from './prepare.ts';
import type { Ground } from './prepare.ts';
import type { Suite } from './rootfs.ts';
import { startVideoService } from './video-service.ts';

/** Everything that the service promises, checked on a real Debian. The checks follow from one another. */
export async function checklist(name: string, suite: Suite): Promise<void> {
  const ground = await prepare(suite);
  if (typeof ground === 'string') {
    process.stderr.write(`\n*** NOT CHECKED on ${name}: ${ground}\n\n`);
    describe.skip(name, () => register(suite, { root: '', package: '' }));
  } else {
    describe(name, () => register(suite, ground));
  }
}

function register(suite: Suite, ground: Ground): void {
  describe('the package', () => {
    const box = boxOf(ground);
    const found: Partial<Scene> = {};
    const scene = (): Scene => ({ box: box(), suite, package: inside(ground), ...found }) as Scene;
    checkInstallation(scene);
    describe('the service', () => {
      beforeAll(async () => {
        Object.assign(found, { service: await startVideoService(box()) });
      });
      for (const check of [checkRefusals, checkStart, checkFolders, checkAccess, checkReload, checkConfinement])
        check(scene);
      for (const check of [checkLogs, checkMishaps, checkSecrets, checkInstances, checkLifeCycle]) check(scene);
    });
  });
  describe('unattended upgrades', () => {
    checkUpgrade(boxOf(ground), inside(ground));
  });
  describe('a drop-in for hostile names', () => {
    checkHostileNames(boxOf(ground));
  });
  describe('the set-up', () => {
    const box = boxOf(ground);
    checkSetup(box, inside(ground));
    checkDoctor(box);
  });
  describe('a fleet', () => {
    checkFleet(boxOf(ground), inside(ground));
  });
  describe('the guide', () => {
    checkGuide(boxOf(ground), inside(ground));
  });
  describe('the recipes', () => {
    checkRecipes(boxOf(ground), inside(ground));
  });
}

/** A machine for the tests of the surrounding block. */
function boxOf(ground: Ground): () => Box {
  let box: Box | null = null;
  beforeAll(async () => {
    const media = fileURLToPath(new URL('../media', import.meta.url));
    box = await startBox(ground.root, { [media]: '/mnt/media', [dirname(ground.package)]: '/mnt/package' });
  });
  afterAll(() => box?.[Symbol.asyncDispose]());
  beforeEach(() => {
    onTestFailed(async () => {
      if (box !== null) process.stderr.write(`\n${await tail(box)}\n`);
    });
  });
  return () => {
    if (box === null) throw new Error('the machine did not boot');
    return box;
  };
}

function inside(ground: Ground): string {
  return ground.package.replace(dirname(ground.package), '/mnt/package');
}
