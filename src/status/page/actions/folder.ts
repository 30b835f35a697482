import { pause, resume } from '../../../daemon/commands/pause.ts';
import { byPage } from '../files/bulk-commands.ts';
import { PageError } from '../world.ts';
import type { PageWorld, Sent } from '../world.ts';

const BACK = '/folders';

/** Nothing new of a folder begins. @throws {PageError} 409 when it is not watched any more */
export async function pauseFolder({ daemon }: PageWorld, { query }: Sent): Promise<string> {
  const folder = query.get('folder') ?? '';
  const { refused } = await pause(daemon, { folders: [folder], until: null, by: byPage });
  if (refused.length > 0) throw new PageError(409, `${folder} is not a watched folder any more.`);
  return BACK;
}

/** Ends what a person paused, and nothing else. @throws {PageError} 409 when it is not paused any more */
export async function resumeFolder({ daemon }: PageWorld, { query }: Sent): Promise<string> {
  const folder = query.get('folder') ?? '';
  // `resume` goes on with a frozen folder too, which nobody has asked for here.
  if (!daemon.pauses.list().some((each) => each.folder === folder))
    throw new PageError(409, `${folder} is not paused any more.`);
  const result = await resume(daemon, { folder, by: byPage });
  if (!result.ok) throw new PageError(409, `${folder}: ${result.why}`);
  return BACK;
}
