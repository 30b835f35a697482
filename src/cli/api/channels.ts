import { resolve } from 'node:path';
import { readRegularFile } from '../../config/file-access.ts';
import { hasColour } from '../../log/colour.ts';
import { renderDetails } from '../output/details.ts';
import { printJson } from '../output/json.ts';
import { formatCount, formatMoment, UNKNOWN } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { tableOptions } from '../output/file-table.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import type { Channel, ChannelChanges } from '@dropcast/client';
import { channelForm } from './json-forms.ts';
import type { Session } from './session.ts';

/** `dropcast channels list`: lists the account's channels. */
export async function listChannels({ shell, client }: Session, options: { readonly json?: boolean }): Promise<void> {
  const channels = await client.channels.list({ signal: shell.stopping });
  if (options.json === true) printJson({ channels: channels.map(channelForm) }, shell.stdout);
  else if (channels.length === 0) shell.stderr.write('The account has no channels.\n');
  else shell.stdout.write(channelTable(channels, shell));
}

function channelTable(channels: readonly Channel[], shell: Shell): string {
  const columns = [
    { title: 'ID' },
    { title: 'NAME', cut: 'end' as const },
    { title: 'SLUG', cut: 'end' as const },
    { title: 'VIDEOS', align: 'right' as const },
    { title: 'CREATED' },
  ];
  const rows = channels.map((channel) => [
    channel.id,
    channel.name || UNKNOWN,
    channel.slug || UNKNOWN,
    formatCount(channel.videoCount ?? null),
    formatMoment(channel.createdAt || undefined, Date.now(), shell.stdout.isTTY),
  ]);
  return renderTable(columns, rows, tableOptions(shell));
}

function describeChannel(channel: Channel, shell: Shell): string {
  const settings = channel.defaultPlayerSettings;
  const details = [
    { label: 'id', value: channel.id },
    { label: 'name', value: channel.name ?? null },
    { label: 'slug', value: channel.slug ?? null },
    { label: 'description', value: channel.description?.split('\n') ?? null },
    { label: 'videos', value: channel.videoCount === undefined ? null : formatCount(channel.videoCount) },
    { label: 'player settings', value: settings === undefined ? null : JSON.stringify(settings) },
    { label: 'created', value: channel.createdAt ?? null },
  ];
  return renderDetails(details, hasColour(shell.stdout, shell.env));
}

export interface UpdateChannelOptions {
  readonly name?: string;
  readonly description?: string;
  /** A JSON object, or `@FILE`. */
  readonly playerSettings?: string;
}

/** `dropcast channels update ID`: changes a channel's settings. */
export async function updateChannel(
  { shell, client }: Session,
  id: string,
  { changes, json }: { readonly changes: ChannelChanges; readonly json?: boolean | undefined },
): Promise<void> {
  const channel = await client.channels.update(id, changes, { signal: shell.stopping });
  if (json === true) printJson({ id, channel: channel === null ? null : channelForm(channel) }, shell.stdout);
  else shell.stdout.write(channel === null ? `Changed ${escapeControls(id)}.\n` : describeChannel(channel, shell));
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
  if (name === undefined && description === undefined && playerSettings === undefined) {
    throw new CommandError('nothing to change: give --name, --description or --player-settings', exitCodes.usage);
  }
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(playerSettings !== undefined && { defaultPlayerSettings: await readPlayerSettings(shell, playerSettings) }),
  };
}

const MAX_SETTINGS_BYTES = 1024 * 1024;

/**
 * Reads `--player-settings`: a JSON object, or `@FILE` with one. The service validates the content, because the
 * specification does not define its structure (api-spec section 2.2).
 *
 * @throws {CommandError} with exit code 2
 */
export async function readPlayerSettings(
  shell: Pick<Shell, 'cwd'>,
  text: string,
): Promise<Readonly<Record<string, unknown>>> {
  const json = text.startsWith('@') ? await readText(resolve(shell.cwd, text.slice(1))) : text;
  const value = parse(json);
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
