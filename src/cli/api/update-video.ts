import type { VideoChanges } from '@dropcast/client';
import { printJson } from '../output/json.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { CommandError, exitCodes } from '../shell.ts';
import { videoForm } from './json-forms.ts';
import type { Session } from './session.ts';
import { describeVideo } from './video-text.ts';

export interface UpdateVideoOptions {
  readonly title?: string;
  readonly description?: string;
  readonly tag?: readonly string[];
  /** False to remove all tags. */
  readonly tags: boolean;
}

/** `dropcast videos update ID`: prints the changed video if the service returns it. */
export async function updateVideo(
  { shell, client }: Session,
  id: string,
  { changes, json }: { readonly changes: VideoChanges; readonly json?: boolean | undefined },
): Promise<void> {
  const video = await client.videos.update(id, changes, { signal: shell.stopping });
  if (json === true) printJson({ id, video: video === null ? null : videoForm(video) }, shell.stdout);
  else shell.stdout.write(video === null ? `Changed ${escapeControls(id)}.\n` : describeVideo(video, shell));
}

/**
 * The requested changes.
 *
 * @throws {CommandError} when there are none
 */
export function videoChanges({ title, description, tag, tags }: UpdateVideoOptions): VideoChanges {
  const newTags = tags ? tag : [];
  if (title === undefined && description === undefined && newTags === undefined) {
    throw new CommandError('nothing to change: give --title, --description, --tag or --no-tags', exitCodes.usage);
  }
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(newTags !== undefined && { tags: newTags }),
  };
}
