import { isReadByEmbed } from '../embed/media-address.ts';
import type { World } from '../world.ts';
import { ReadPlays, type MediaRead } from './read-plays.ts';

/** A read, with the path and query that were asked for. */
export interface FinishedRead extends MediaRead {
  readonly target: string;
}

/** @returns what is to be told of every read of a media file */
export function countReads(world: Pick<World, 'records' | 'clock' | 'events' | 'settings'>) {
  const { records, clock, events, settings } = world;
  const plays = new ReadPlays({ records, clock, events, seed: settings.seed });
  events.listen(({ type }) => {
    if (type === 'reset') plays.forget();
  });
  return (read: FinishedRead): void => {
    if (!isReadByEmbed(read.target)) plays.note(read);
  };
}
