import { callDaemon } from '../../../src/daemon/control/client.ts';
import type { FilesView } from '../../../src/view/files/files-view.ts';
import { until } from '../../support/until.ts';
import { everythingWasSeen, isReady } from '../planted/scenarios/seen.ts';
import type { World } from '../world/world.ts';

const ends = new Set(['done', 'failed', 'held', 'skipped', 'vanished', 'superseded']);
const told = new Set(['failed', 'held']);

/**
 * Waits until nothing is left to do, and what lies in the folder was looked at again.
 *
 * @param titles that must be on the service
 */
export async function settled(world: World, titles: readonly string[] = []): Promise<void> {
  await nothingIsLeft(world, titles);
  await everythingWasSeen(world);
  await nothingIsLeft(world, titles);
}

export function allFiles(world: World): Promise<FilesView> {
  return callDaemon<FilesView>(world.scratch.file('state/dropcast.sock'), 'GET', '/files?limit=1000');
}

async function nothingIsLeft(world: World, titles: readonly string[]): Promise<void> {
  let left: readonly string[] = ['not asked'];
  const look = async (): Promise<boolean> => {
    const { files, settling } = await allFiles(world);
    left = [
      ...files.filter(({ state }) => !ends.has(state)).map(({ path, state, why }) => `${path}: ${state}, ${why}`),
      ...settling.map(({ path, why }) => `${path}: settling, ${why}`),
      ...notReady(world, files),
      ...titles.filter((title) => !isReady(world, title)).map((title) => `no video has the title ${title}`),
    ];
    return left.length === 0;
  };
  await until('nothing is left to do', look, { seen: () => left.slice(0, 10), withinMs: world.patienceMs });
}

/** Versions that are neither on the service nor a person's to look at. */
function notReady(world: World, files: FilesView['files']): readonly string[] {
  const ready = new Set(world.service.records().flatMap(({ status, bodies }) => (status === 'ready' ? bodies : [])));
  const needsPerson = new Set(files.filter(({ state }) => told.has(state)).map(({ path }) => path));
  return world.people.all
    .filter(({ isLeft, sha256, path }) => isLeft && !ready.has(sha256) && !needsPerson.has(path))
    .map(({ path, sha256 }) => `${path}: ${sha256.slice(0, 12)} is not ready`);
}
