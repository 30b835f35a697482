import { printJson } from '../output/json.ts';
import { videoForm } from './json-forms.ts';
import type { Session } from './session.ts';
import { describeVideo } from './video-text.ts';

/** `dropcast videos get ID`: everything about one video. */
export async function getVideo(
  { shell, client }: Session,
  id: string,
  options: { readonly json?: boolean },
): Promise<void> {
  const video = await client.videos.get(id, { signal: shell.stopping });
  if (options.json === true) printJson({ video: videoForm(video) }, shell.stdout);
  else shell.stdout.write(describeVideo(video, shell));
}
