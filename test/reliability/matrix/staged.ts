import { randomBytes } from 'node:crypto';
import { open, rename, writeFile } from 'node:fs/promises';
import { until } from '../../support/until.ts';
import type { World } from '../world/world.ts';
import { titlesOf } from './changes.ts';
import type { Subject } from './changes.ts';
import { plugs } from './holds.ts';
import type { Holds } from './holds.ts';
import { percentRead, sizeAt } from './moments.ts';
import type { Moment } from './moments.ts';

/** A file that is to be brought to a moment. */
export interface Staged extends Subject {
  readonly moment: Moment;
}

export function stagedAt(world: World, title: string, moment: Moment): Staged {
  return { world, name: `${title}.mpg`, title, moment, bytes: randomBytes(sizeAt(moment)) };
}

/**
 * Drops every file and brings it to its moment, where the service holds it.
 *
 * @returns closes the files that somebody has open so that they do not settle
 */
export async function bringThere(world: World, files: readonly Staged[], holds: Holds): Promise<AsyncDisposable> {
  const at = (...some: readonly Moment[]): readonly Staged[] => files.filter(({ moment }) => some.includes(moment));
  const dropAll = async (some: readonly Staged[]): Promise<void> => {
    for (const { name, bytes, title } of some)
      await world.people.drop(world.at(name), bytes, { titles: titlesOf(title) });
  };
  await dropAll(at('done'));
  for (const { name } of at('done')) await world.reaches(name, 'done');
  holds.isPublishHeld = true;
  await dropAll(at('awaiting publish', 'in processing'));
  for (const { name } of at('awaiting publish')) await world.reaches(name, 'awaiting publish');
  for (const { name } of at('in processing')) await world.reaches(name, 'processing');
  const sent = files.filter(({ moment }) => moment in percentRead || moment === 'all bytes sent');
  await dropAll(sent);
  for (const { title } of sent) await until(`the service holds ${title}`, () => holds.isHeld(title));
  await using writers = new AsyncDisposableStack();
  for (const one of at('settling')) writers.use(await dropOpen(one));
  if (at('queued').length > 0) {
    for (const plug of plugs) await world.drop(`${plug}.mpg`);
    for (const plug of plugs) await until(`the service holds ${plug}`, () => holds.isHeld(plug));
    await dropAll(at('queued'));
    for (const { name } of at('queued')) await world.reaches(name, 'queued');
  }
  return writers.move();
}

/** Complete, but somebody has it open to write. */
async function dropOpen({ world, name, bytes, title }: Staged): Promise<AsyncDisposable> {
  const outside = world.scratch.file(name);
  await writeFile(outside, bytes);
  const writer = await open(outside, 'a');
  world.people.note(world.at(name), bytes, { titles: titlesOf(title) });
  await rename(outside, world.at(name));
  return writer;
}
