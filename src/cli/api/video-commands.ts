import { Option } from 'commander';
import type { Command } from 'commander';
import { collect, wholeNumber } from '../argument-types.ts';
import { createVideo, importVideo } from './create-video.ts';
import { deleteVideo } from './delete-video.ts';
import { getVideo } from './get-video.ts';
import { listVideos } from './list-videos.ts';
import type { ListVideosOptions } from './list-videos.ts';
import type { NewVideoOptions } from './new-video.ts';
import type { Registry, Shared } from './registry.ts';
import { updateVideo, videoChanges } from './update-video.ts';
import type { UpdateVideoOptions } from './update-video.ts';
import { uploadVideo } from './upload-video.ts';
import type { UploadVideoOptions } from './upload-video.ts';

export function addVideoCommands(videos: Command, registry: Registry): void {
  addReading(videos, registry);
  addMaking(videos, registry);
  addUpload(videos, registry);
  addChanging(videos, registry);
}

function addReading(videos: Command, { command, run }: Registry): void {
  command(videos, 'list', { does: 'list the videos, newest first', example: 'videos list --status failed' })
    .option('--channel <id>', 'only those of this channel')
    .addOption(new Option('--status <status>', 'only those in this state').choices(['processing', 'ready', 'failed']))
    .option('-n, --limit <number>', 'list so many at most', wholeNumber(1, 1_000_000), 100)
    .action((options: Shared & ListVideosOptions) => run(options, (session) => listVideos(session, options)));
  command(videos, 'get <id>', { does: 'show everything about one video', example: 'videos get vid_4f9x' }).action(
    (id: string, options: Shared) => run(options, (session) => getVideo(session, id, options)),
  );
}

function addMaking(videos: Command, { command, run }: Registry): void {
  const create = command(videos, 'create', {
    does: 'make a record without a file, and print its id and upload address. The address is a secret: whoever has it can send the file, so keep it out of logs and chats',
    example: 'videos create --title "Evening news" --channel ch_news --tag news',
  }).summary('make a record without a file, and print its upload address');
  described(create.requiredOption('--title <text>', 'title (required)')).action((options: Shared & NewVideoOptions) =>
    run(options, (session) => createVideo(session, options)),
  );
  const fetched = command(videos, 'import <url>', {
    does: 'have the service fetch a file from an address',
    example: 'videos import https://example.com/clip.mp4 --title "A clip"',
  });
  described(fetched.requiredOption('--title <text>', 'title (required)')).action(
    (url: string, options: Shared & NewVideoOptions) => run(options, (session) => importVideo(session, url, options)),
  );
}

function addUpload(videos: Command, { command, run }: Registry): void {
  const upload = command(videos, 'upload <file>', {
    does: 'make a record and send a file to it',
    example: 'videos upload clip.mp4 --channel ch_news --tag news --wait',
  });
  described(upload.option('--title <text>', 'title (default: the name of the file without extension)'))
    .option('--wait', 'follow it until it is ready; exit code 1 when it fails')
    .action((file: string, options: Shared & UploadVideoOptions) =>
      run(options, (session) => uploadVideo(session, file, options)),
    );
}

function addChanging(videos: Command, { command, run }: Registry): void {
  command(videos, 'update <id>', {
    does: 'change title, description or tags',
    example: 'videos update vid_4f9x --title "Evening news" --tag news --tag evening',
  })
    .option('--title <text>', 'new title')
    .option('--description <text>', 'new description')
    .option('--tag <tag>', 'new tag in place of all it has; may be repeated', collect)
    .addOption(new Option('--no-tags', 'take all tags away').conflicts('tag'))
    .action((id: string, options: Shared & UpdateVideoOptions) => {
      const changes = videoChanges(options);
      return run(options, (session) => updateVideo(session, id, { changes, json: options.json }));
    });
  command(videos, 'delete <id>', {
    does: 'delete a video and all that belongs to it, for good; asks before',
    example: 'videos delete vid_4f9x',
  })
    .option('-y, --yes', 'do not ask')
    .action((id: string, options: Shared & { yes?: boolean }) =>
      run(options, (session) => deleteVideo(session, id, options)),
    );
}

function described(command: Command): Command {
  return command
    .option('--channel <id>', 'channel it belongs to')
    .option('--description <text>', 'description')
    .option('--tag <tag>', 'tag; may be repeated', collect);
}
