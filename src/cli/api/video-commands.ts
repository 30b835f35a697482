import { Option } from 'commander';
import type { Command } from 'commander';
import { collect, wholeNumber } from '../argument-types.ts';
import type { ListVideosOptions } from './read-videos.ts';
import type { NewVideoOptions } from './create-video.ts';
import type { Registry, Shared } from './registry.ts';
import type { UpdateVideoOptions } from './update-video.ts';
import type { UploadVideoOptions } from './upload-video.ts';

/** Adds the `dropcast videos …` commands. */
export function addVideoCommands(videos: Command, registry: Registry): void {
  addReadCommands(videos, registry);
  addCreateCommands(videos, registry);
  addUploadCommand(videos, registry);
  addChangeCommands(videos, registry);
}

function addReadCommands(videos: Command, { command, run }: Registry): void {
  command(videos, 'list', { does: 'list the videos, newest first', example: 'videos list --status failed' })
    .option('--channel <id>', 'only videos of this channel')
    .addOption(
      new Option('--status <status>', 'only videos with this status').choices(['processing', 'ready', 'failed']),
    )
    .option('-n, --limit <number>', 'list at most this many', wholeNumber(1, 1_000_000), 100)
    .action((options: Shared & ListVideosOptions) =>
      run(options, async (session) => (await import('./read-videos.ts')).listVideos(session, options)),
    );
  command(videos, 'get <id>', { does: 'show everything about one video', example: 'videos get vid_4f9x' }).action(
    (id: string, options: Shared) =>
      run(options, async (session) => (await import('./read-videos.ts')).getVideo(session, id, options)),
  );
}

function addCreateCommands(videos: Command, { command, run }: Registry): void {
  const create = command(videos, 'create', {
    does: 'create a record without a file; print its id and upload address. The address is a secret: anyone who has it can upload, so keep it out of logs and chats',
    example: 'videos create --title "Evening news" --channel ch_news --tag news',
  }).summary('create a record without a file, print its upload address');
  described(create.requiredOption('--title <text>', 'title (required)')).action((options: Shared & NewVideoOptions) =>
    run(options, async (session) => (await import('./create-video.ts')).createVideo(session, options)),
  );
  const fetched = command(videos, 'import <url>', {
    does: 'let the service fetch a file from a web address',
    example: 'videos import https://example.com/clip.mp4 --title "A clip"',
  });
  described(fetched.requiredOption('--title <text>', 'title (required)')).action(
    (url: string, options: Shared & NewVideoOptions) =>
      run(options, async (session) => (await import('./create-video.ts')).importVideo(session, url, options)),
  );
}

function addUploadCommand(videos: Command, { command, run }: Registry): void {
  const upload = command(videos, 'upload <file>', {
    does: 'create a record and upload a file to it',
    example: 'videos upload clip.mp4 --channel ch_news --tag news --wait',
  });
  described(upload.option('--title <text>', 'title (default: the name of the file without extension)'))
    .option('--wait', 'wait until the video is ready; exit code 1 if it fails')
    .action((file: string, options: Shared & UploadVideoOptions) =>
      run(options, async (session) => (await import('./upload-video.ts')).uploadVideo(session, file, options)),
    );
}

function addChangeCommands(videos: Command, { command, run }: Registry): void {
  command(videos, 'update <id>', {
    does: 'change title, description or tags of a video',
    example: 'videos update vid_4f9x --title "Evening news" --tag news --tag evening',
  })
    .option('--title <text>', 'new title')
    .option('--description <text>', 'new description')
    .option('--tag <tag>', 'new tag, replacing all tags; can be repeated', collect)
    .addOption(new Option('--no-tags', 'remove all tags').conflicts('tag'))
    .action(async (id: string, options: Shared & UpdateVideoOptions) => {
      const { updateVideo, videoChanges } = await import('./update-video.ts');
      const changes = videoChanges(options);
      await run(options, (session) => updateVideo(session, id, { changes, json: options.json }));
    });
  command(videos, 'delete <id>', {
    does: 'delete a video and everything that belongs to it, permanently; asks first',
    example: 'videos delete vid_4f9x',
  })
    .option('-y, --yes', 'do not ask')
    .action((id: string, options: Shared & { yes?: boolean }) =>
      run(options, async (session) => (await import('./delete-video.ts')).deleteVideo(session, id, options)),
    );
}

function described(command: Command): Command {
  return command
    .option('--channel <id>', 'channel of the video')
    .option('--description <text>', 'description')
    .option('--tag <tag>', 'tag; can be repeated', collect);
}
