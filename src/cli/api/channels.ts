import type { Channel, ChannelChanges, Feed } from '@dropcast/client';
import { resolve } from 'node:path';
import { readRegularFile } from '../../config/file-access.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { given } from '../argument-types.ts';
import { counted, formatCount, formatMoment, UNKNOWN } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { renderDetails } from '../output/table.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { printList } from './print-list.ts';
import type { Session } from './session.ts';

interface Json {
  readonly json?: boolean;
}

/** `dropcast channels list`: lists the account's channels. */
export async function listChannels({ shell, client }: Session, { json }: Json): Promise<void> {
  const channels = await client.channels.list({ signal: shell.stopping });
  printList(
    { channels: channels.map(channelForm) },
    { shell, json },
    {
      items: channels,
      none: 'The account has no channels.',
      columns: [
        ['ID', ({ id }) => id],
        ['NAME', ({ name }) => name || UNKNOWN, { cut: 'end' }],
        ['SLUG', ({ slug }) => slug || UNKNOWN, { cut: 'end' }],
        ['VIDEOS', ({ videoCount }) => formatCount(videoCount ?? null), { align: 'right' }],
        ['CREATED', ({ createdAt }) => formatMoment(createdAt || undefined, Date.now(), shell.stdout.isTTY)],
      ],
    },
  );
}

/** A channel as `--json` prints it, with the API's field names (api-spec section 2). */
function channelForm(channel: Channel) {
  return {
    id: channel.id,
    name: channel.name || null,
    slug: channel.slug || null,
    video_count: channel.videoCount ?? null,
    created_at: channel.createdAt || null,
    description: channel.description ?? null,
    default_player_settings: channel.defaultPlayerSettings ?? null,
  };
}

export interface UpdateChannelOptions extends Json {
  readonly name?: string;
  readonly description?: string;
  /** A JSON object, or `@FILE`. */
  readonly playerSettings?: string;
}

/** `dropcast channels update ID`: changes a channel's settings. @throws as `channelChanges` */
export async function updateChannel(from: Pick<Shell, 'cwd'>, options: UpdateChannelOptions) {
  const changes = await channelChanges(from, options);
  return async ({ shell, client }: Session, { json }: Json, id: string): Promise<void> => {
    const channel = await client.channels.update(id, changes, { signal: shell.stopping });
    printResult({ id, channel: channel && channelForm(channel) }, { shell, json }, () =>
      channel === null ? `Changed ${escapeControls(id)}.\n` : describeChannel(channel, shell),
    );
  };
}

function describeChannel(channel: Channel, shell: Shell): string {
  const { videoCount, defaultPlayerSettings: settings } = channel;
  return renderDetails(
    [
      ['id', channel.id],
      ['name', channel.name ?? null],
      ['slug', channel.slug ?? null],
      ['description', channel.description?.split('\n') ?? null],
      ['videos', videoCount === undefined ? null : formatCount(videoCount)],
      ['player settings', settings === undefined ? null : JSON.stringify(settings)],
      ['created', channel.createdAt ?? null],
    ],
    shell,
  );
}

/**
 * The requested changes.
 *
 * @throws {CommandError} when there are none, or the player settings are not a JSON object
 */
export async function channelChanges(
  shell: Pick<Shell, 'cwd'>,
  { name, description, playerSettings }: UpdateChannelOptions,
): Promise<ChannelChanges> {
  const settings = playerSettings === undefined ? undefined : await readPlayerSettings(shell, playerSettings);
  const changes = given({ name, description, defaultPlayerSettings: settings });
  if (Object.keys(changes).length > 0) return changes;
  throw new CommandError('nothing to change: give --name, --description or --player-settings', exitCodes.usage);
}

const MAX_SETTINGS_BYTES = 1024 * 1024;

/**
 * Reads `--player-settings`: a JSON object, or `@FILE` with one. The service validates the content, because the
 * specification does not define its structure (api-spec section 2.2).
 *
 * @throws {CommandError} with exit code 2
 */
async function readPlayerSettings(
  { cwd }: Pick<Shell, 'cwd'>,
  text: string,
): Promise<Readonly<Record<string, unknown>>> {
  const value = parse(text.startsWith('@') ? await readText(resolve(cwd, text.slice(1))) : text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new CommandError('--player-settings must be a JSON object, like {"autoplay":true}, or @FILE', exitCodes.usage);
}

async function readText(file: string): Promise<string> {
  const read = await readRegularFile(file, MAX_SETTINGS_BYTES);
  if (read.ok) return read.bytes.toString('utf8').replace(/^\ufeff/, '');
  throw new CommandError(`cannot read the player settings ${escapeControls(file)}: ${read.message}`, exitCodes.usage);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const why = error instanceof Error ? escapeControls(error.message) : 'not JSON';
    throw new CommandError(`--player-settings is not JSON: ${why}`, exitCodes.usage, { cause: error });
  }
}

/** `dropcast feeds list`: lists the account's feeds. */
export async function listFeeds({ shell, client }: Session, { json }: Json): Promise<void> {
  const feeds = await client.feeds.list({ signal: shell.stopping });
  printList(
    { feeds: feeds.map(feedForm) },
    { shell, json },
    {
      items: feeds,
      none: 'The account has no feeds.',
      columns: [
        ['ID', ({ id }) => id],
        ['NAME', ({ name }) => name || UNKNOWN, { cut: 'end' }],
        ['TYPE', ({ type }) => type || UNKNOWN],
        ['CHANNEL', ({ channelId }) => channelId || UNKNOWN],
        ['PUBLISHED', ({ lastPublishedAt }) => formatMoment(lastPublishedAt, Date.now(), shell.stdout.isTTY)],
        ['ADDRESS', ({ url }) => url || UNKNOWN, { cut: 'middle' }],
      ],
    },
  );
}

function feedForm(feed: Feed) {
  return {
    id: feed.id,
    name: feed.name || null,
    type: feed.type || null,
    channel_id: feed.channelId || null,
    url: feed.url || null,
    last_published_at: feed.lastPublishedAt ?? null,
  };
}

/** `dropcast feeds publish ID`: publishes a feed now, with the latest videos. Prints the service's own word for it. */
export async function publishFeed({ shell, client }: Session, { json }: Json, id: string): Promise<void> {
  const { status, publishedAt, videoCount } = await client.feeds.publish(id, { signal: shell.stopping });
  const count = videoCount === undefined ? '' : ` with ${counted(videoCount, 'video')}`;
  printResult(
    { feed_id: id, status, published_at: publishedAt ?? null, video_count: videoCount ?? null },
    { shell, json },
    () => `${escapeControls(id)}: ${escapeControls(status)}${count}\n`,
  );
}
