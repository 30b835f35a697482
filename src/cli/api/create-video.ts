import { hasColour } from '../../log/colour.ts';
import { renderDetails } from '../output/details.ts';
import { printJson } from '../output/json.ts';
import { CommandError, exitCodes } from '../shell.ts';
import { newVideo } from './new-video.ts';
import type { NewVideoOptions } from './new-video.ts';
import type { Session } from './session.ts';
import { makingRecord } from './unfinished.ts';
import { statusStyle } from './video-text.ts';

type Options = NewVideoOptions & { readonly json?: boolean };

/** `dropcast videos create`: a record, and the address that its file is to be sent to, which is what was asked for. */
export async function createVideo({ shell, client }: Session, options: Options): Promise<void> {
  const { id, status, uploadUrl } = await makingRecord(() =>
    client.videos.create(newVideo(options), { signal: shell.stopping }),
  );
  if (options.json === true) return printJson({ id, status, upload_url: uploadUrl }, shell.stdout);
  const details = [
    { label: 'id', value: id },
    { label: 'status', value: status, style: statusStyle(status) },
    { label: 'upload address', value: uploadUrl },
  ];
  shell.stdout.write(renderDetails(details, hasColour(shell.stdout, shell.env)));
  shell.stderr.write('Send the file there with an HTTP PUT. Whoever has the address can do so: keep it to yourself.\n');
}

/** `dropcast videos import URL`: a record whose file the service fetches. */
export async function importVideo({ shell, client }: Session, url: string, options: Options): Promise<void> {
  requireWebAddress(url);
  const { id, status } = await makingRecord(() =>
    client.videos.import(url, newVideo(options), { signal: shell.stopping }),
  );
  if (options.json === true) return printJson({ id, status }, shell.stdout);
  const details = [
    { label: 'id', value: id },
    { label: 'status', value: status, style: statusStyle(status) },
  ];
  shell.stdout.write(renderDetails(details, hasColour(shell.stdout, shell.env)));
}

function requireWebAddress(text: string): void {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) return;
  throw new CommandError(
    'not a web address to import from; write it like https://example.com/clip.mp4',
    exitCodes.usage,
  );
}
