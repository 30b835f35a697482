import type { NewVideo } from '@dropcast/client';
import { hasColour } from '../../log/colour.ts';
import { renderDetails } from '../output/details.ts';
import { printJson } from '../output/json.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Session } from './session.ts';
import { creatingRecord } from './unfinished.ts';
import { statusStyle } from './video-text.ts';

/** Options of every command that creates a record. */
export interface NewVideoOptions {
  readonly title: string;
  readonly channel?: string;
  readonly description?: string;
  readonly tag?: readonly string[];
}

type Options = NewVideoOptions & { readonly json?: boolean };

/** `dropcast videos create`: creates a record without a file, and prints its upload address and headers. */
export async function createVideo({ shell, client }: Session, options: Options): Promise<void> {
  const { id, status, uploadUrl, uploadHeaders } = await creatingRecord(() =>
    client.videos.create(newVideo(options), { signal: shell.stopping }),
  );
  if (options.json === true) {
    const headers = uploadHeaders !== undefined && { upload_headers: uploadHeaders };
    return printJson({ id, status, upload_url: uploadUrl, ...headers }, shell.stdout);
  }
  const details = [
    { label: 'id', value: id },
    { label: 'status', value: status, style: statusStyle(status) },
    { label: 'upload address', value: uploadUrl },
    ...Object.entries(uploadHeaders ?? {}).map(([name, value]) => ({ label: 'header', value: `${name}: ${value}` })),
  ];
  shell.stdout.write(renderDetails(details, hasColour(shell.stdout, shell.env)));
  const how = uploadHeaders === undefined ? '' : ' that has these headers';
  shell.stderr.write(
    `Send the file there with an HTTP PUT${how}. Keep the address secret: anyone who has it can upload.\n`,
  );
}

/** `dropcast videos import URL`: creates a record whose file the service fetches. */
export async function importVideo({ shell, client }: Session, url: string, options: Options): Promise<void> {
  requireWebAddress(url);
  const { id, status } = await creatingRecord(() =>
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
  throw new CommandError('not a web address; write it like https://example.com/clip.mp4', exitCodes.usage);
}

/** Builds a new record's fields from the options. */
export function newVideo({ title, channel, description, tag }: NewVideoOptions): NewVideo {
  return {
    title,
    ...(channel !== undefined && { channelId: channel }),
    ...(description !== undefined && { description }),
    ...(tag !== undefined && { tags: tag }),
  };
}
