import { Option } from 'commander';
import type { Command } from 'commander';
import { collect, wholeNumber } from '../argument-types.ts';
import type { Shared } from '../registry.ts';
import type { Shell } from '../shell.ts';
import { parseDay } from './period.ts';
import type { Session } from './session.ts';
import type { TargetOptions } from './target.ts';
import type { UpdateVideoOptions } from './videos.ts';

/** Options of every API command. */
export type ServiceOptions = Shared & TargetOptions;

/** Adds `dropcast videos|channels|feeds|analytics …`: the whole API from the shell (design section 2). */
export function addApiCommands(program: Command, shell: Shell): void {
  for (const { name, does, endpoints } of groups) {
    const group = program.command(name).description(does);
    for (const { usage, options = [], load, ...texts } of endpoints) {
      const command = serviceCommand(group, usage, { ...texts, example: `${name} ${texts.example}` });
      for (const option of options) command.addOption(option);
      command.action(async () => {
        const given = command.opts<ServiceOptions>();
        const [{ inSession }, run] = await Promise.all([import('./session.ts'), load(shell, given)]);
        await inSession(shell, given, (session) => run(session, given, ...command.args));
      });
    }
  }
}

interface Texts {
  readonly does: string;
  /** Shorter text for the list of commands. */
  readonly summary?: string;
  readonly example: string;
  /** Text after the example; by default the note on the request budget. */
  readonly note?: string;
}

/** Adds a command with the options that all commands on the service share. */
export function serviceCommand(
  group: Command,
  usage: string,
  { does, summary, example, note = BUDGET }: Texts,
): Command {
  const command = group.command(usage).description(does).option('--json', 'print JSON, {"v":1,…}');
  if (summary !== undefined) command.summary(summary);
  return command
    .optionsGroup('Where the service is:')
    .option('-c, --config <path>', 'configuration file with the address and key of the service')
    .option(
      '--base-url <url>',
      'address of the service, instead of a configuration (default: $DROPCAST_BASE_URL); the key is then $DROPCAST_API_KEY',
    )
    .option('--ca <file>', 'additional certificates (PEM) to trust')
    .optionsGroup('Options:')
    .addHelpText('after', `\nExample:\n  $ dropcast ${example}\n${note}`);
}

/** Note on the request budget (api-spec section 8). */
const BUDGET = `
Each request counts against the hourly limit of the key. A daemon with the same
key shares that limit: use another key to leave the daemon its own.`;

interface Endpoint extends Texts {
  /** Name and arguments. */
  readonly usage: string;
  readonly options?: readonly Option[];
  /** Loads the command's code when it runs. Wrong options are refused here, before the service is looked for. */
  load(shell: Shell, options: ServiceOptions): Promise<Handler['run']>;
}

/** A method, so that each handler can name its own options and arguments. */
interface Handler {
  run(session: Session, options: ServiceOptions, ...args: readonly string[]): Promise<void>;
}

interface Group {
  readonly name: string;
  readonly does: string;
  readonly endpoints: readonly Endpoint[];
}

const option = (flags: string, description: string): Option => new Option(flags, description);
const ofChannel = option('--channel <id>', 'only videos of this channel');
const limit = option('-n, --limit <number>', 'list at most this many')
  .argParser(wholeNumber(1, 1_000_000))
  .default(100);
const requiredTitle = option('--title <text>', 'title (required)').makeOptionMandatory();
const described = [
  option('--channel <id>', 'channel of the video'),
  option('--description <text>', 'description'),
  option('--tag <tag>', 'tag; can be repeated').argParser(collect),
];
const day = (text: string): string => parseDay(text, Date.now());
const period = [
  option('--from <day>', 'first day (UTC): YYYY-MM-DD, or 7d for the last seven days').argParser(day),
  option('--to <day>', 'last day (UTC, inclusive): YYYY-MM-DD, or 1d for today (default with --from: today)').argParser(
    day,
  ),
];

const videos: readonly Endpoint[] = [
  {
    usage: 'list',
    does: 'list the videos, newest first',
    example: 'list --status failed',
    options: [
      ofChannel,
      option('--status <status>', 'only videos with this status').choices(['processing', 'ready', 'failed']),
      limit,
    ],
    load: async () => (await import('./videos.ts')).listVideos,
  },
  {
    usage: 'get <id>',
    does: 'show everything about one video',
    example: 'get vid_4f9x',
    load: async () => (await import('./videos.ts')).getVideo,
  },
  {
    usage: 'create',
    does: 'create a record without a file; print its id and upload address. The address is a secret: anyone who has it can upload, so keep it out of logs and chats',
    summary: 'create a record without a file, print its upload address',
    example: 'create --title "Evening news" --channel ch_news --tag news',
    options: [requiredTitle, ...described],
    load: async () => (await import('./videos.ts')).createVideo,
  },
  {
    usage: 'import <url>',
    does: 'let the service fetch a file from a web address',
    example: 'import https://example.com/clip.mp4 --title "A clip"',
    options: [requiredTitle, ...described],
    load: async () => (await import('./videos.ts')).importVideo,
  },
  {
    usage: 'upload <file>',
    does: 'create a record and upload a file to it',
    example: 'upload clip.mp4 --channel ch_news --tag news --wait',
    options: [
      option('--title <text>', 'title (default: the name of the file without extension)'),
      ...described,
      option('--wait', 'wait until the video is ready; exit code 1 if it fails'),
    ],
    load: async () => (await import('./upload-video.ts')).uploadVideo,
  },
  {
    usage: 'update <id>',
    does: 'change title, description or tags of a video',
    example: 'update vid_4f9x --title "Evening news" --tag news --tag evening',
    options: [
      option('--title <text>', 'new title'),
      option('--description <text>', 'new description'),
      option('--tag <tag>', 'new tag, replacing all tags; can be repeated').argParser(collect),
      option('--no-tags', 'remove all tags').conflicts('tag'),
    ],
    load: async (_, options: UpdateVideoOptions) => (await import('./videos.ts')).updateVideo(options),
  },
  {
    usage: 'delete <id>',
    does: 'delete a video and everything that belongs to it, permanently; asks first',
    example: 'delete vid_4f9x',
    options: [option('-y, --yes', 'do not ask')],
    load: async () => (await import('./videos.ts')).deleteVideo,
  },
];

const channels: readonly Endpoint[] = [
  {
    usage: 'list',
    does: 'list the channels of the account',
    example: 'list',
    load: async () => (await import('./channels.ts')).listChannels,
  },
  {
    usage: 'update <id>',
    does: 'change the name, description or player settings of a channel',
    example: `update ch_news --name News --player-settings '{"autoplay":true}'`,
    options: [
      option('--name <text>', 'new name'),
      option('--description <text>', 'new description'),
      option('--player-settings <json>', 'new default player settings, as JSON or @FILE; replaces all of them'),
    ],
    load: async (shell, options) => (await import('./channels.ts')).updateChannel(shell, options),
  },
];

const feeds: readonly Endpoint[] = [
  {
    usage: 'list',
    does: 'list the feeds of the account',
    example: 'list',
    load: async () => (await import('./channels.ts')).listFeeds,
  },
  {
    usage: 'publish <id>',
    does: 'publish a feed now, with the latest videos',
    example: 'publish feed_news',
    load: async () => (await import('./channels.ts')).publishFeed,
  },
];

const analytics: readonly Endpoint[] = [
  {
    usage: 'video <id>',
    does: 'show views and watch time of one video',
    example: 'video vid_4f9x --from 7d',
    options: period,
    load: async () => (await import('./analytics.ts')).videoAnalytics,
  },
  {
    usage: 'videos',
    does: 'show views and watch time of each video, of the account or of one channel',
    example: 'videos --channel ch_news --from 30d',
    options: [ofChannel, limit, ...period],
    load: async () => (await import('./analytics.ts')).analyticsOfVideos,
  },
  {
    usage: 'overview',
    does: 'show the views of the account or of one channel',
    example: 'overview --channel ch_news --from 2026-03-01 --to 2026-03-31',
    options: [ofChannel, ...period],
    load: async () => (await import('./analytics.ts')).analyticsOverview,
  },
];

const groups: readonly Group[] = [
  { name: 'videos', does: 'list, get, create, import, upload, update, delete videos', endpoints: videos },
  { name: 'channels', does: 'list and update channels', endpoints: channels },
  { name: 'feeds', does: 'list and publish feeds', endpoints: feeds },
  { name: 'analytics', does: 'show views and watch time', endpoints: analytics },
];
