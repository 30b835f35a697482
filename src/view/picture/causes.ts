import { wholeSentence } from '../words/text.ts';
import { unknownNameCodes } from '../../pipeline/file/failure.ts';
import type { ReasonCode } from '../../pipeline/file/reasons.ts';

/** Explains why files need a person. Shared by all files with the same reason. */
export interface Cause {
  /** Stable keyword by which files are selected. */
  readonly key: string;
  /** One sentence without its full stop: '60 .mkv files could not be processed by the service'. */
  readonly title: string;
  /** What to do about it. */
  readonly next: string;
  /** Actions for all of these files at once; the usual one first. */
  readonly actions: readonly CauseAction[];
}

export type CauseAction = 'retry' | 'force retry' | 'ignore' | 'send elsewhere' | 'adopt' | 'publish' | 'reapply';

/** Files with the same cause. */
export interface Caused {
  readonly cause: string;
  readonly files: number;
  /** File name extensions, most frequent first; '' for none. */
  readonly extensions: readonly string[];
  /** The message of one of the files. */
  readonly message: string;
}

/** Describes files with the same cause. Pure. */
export function causeOf(caused: Caused): Cause {
  const { cause: key } = caused;
  const words: Words = byCode[key as keyof typeof byCode] ?? others[key] ?? openEnded(caused);
  const isOne = caused.files === 1;
  const files = words.noun === undefined ? filesOf(caused) : `${caused.files} ${words.noun(isOne)}`;
  return { key, title: `${files} ${words.is(isOne)}`, next: words.next(isOne), actions: words.actions };
}

interface Words extends Pick<Cause, 'actions'> {
  /** The noun, for entries that are not files. */
  readonly noun?: (isOne: boolean) => string;
  /** The problem, after the number of files. */
  readonly is: (isOne: boolean) => string;
  readonly next: (isOne: boolean) => string;
}

/** `60 .mkv files`, `1 file`, `3 files (.mkv, .avi)`. */
function filesOf({ files, extensions }: Caused): string {
  const known = extensions.filter((extension) => extension !== '');
  const word = files === 1 ? 'file' : 'files';
  const [only] = known;
  if (known.length === 0) return `${files} ${word}`;
  if (extensions.length === 1 && only !== undefined) return `${files} .${only} ${word}`;
  const named = known.slice(0, 3).map((extension) => `.${extension}`);
  return `${files} ${word} (${named.join(', ')}${extensions.length > named.length ? ', …' : ''})`;
}

/** Returns what the person who dropped a file can do about it, without a shell or the rights of an operator. Pure. */
export function nextForSender(cause: string): string {
  return bySender[cause] ?? 'You cannot solve this yourself: show this message to the people who run dropcast.';
}

const bySender: Readonly<Record<string, string | undefined>> = {
  no_rule: 'Move it into the right folder, or ask the people who run dropcast for a rule.',
  sidecar: 'Correct the file with its title and tags next to it; it then resumes.',
  processing_failed: 'Check that it plays; then export it again and drop it under another name.',
  flawed: 'Check that it is complete, and copy it again.',
  over_size_limit: 'Export it with fewer bytes, or ask the people who run dropcast for a higher limit.',
  checksum_mismatch: 'Copy it again; it resumes once its checksum matches.',
  checksum_unreadable: 'Correct or remove its checksum file; it then resumes.',
};

const says = (one: string, many: string) => (isOne: boolean) => (isOne ? one : many);
const both = (words: string) => () => words;

/** Ignored files and those taken back are omitted: they need no attention. */
const byCode: Readonly<
  Record<Exclude<ReasonCode, 'ignored' | 'taken_back' | 'flawed' | 'unreadable' | 'closed_directory'>, Words>
> = {
  no_rule: {
    is: says('matches no rule', 'match no rule'),
    next: says('Add a rule for it, or ignore it.', 'Add a rule for them, or ignore them.'),
    actions: ['ignore'],
  },
  sidecar: {
    is: says('has a sidecar that cannot be read', 'have sidecars that cannot be read'),
    next: says('Correct the sidecar; the file then resumes.', 'Correct the sidecars; the files then resume.'),
    actions: ['ignore'],
  },
  existing: {
    is: says('was there before dropcast watched the folder', 'were there before dropcast watched the folder'),
    next: says(
      '`dropcast adopt` shows whether the service already has it; `dropcast adopt --confirm` does the rest.',
      '`dropcast adopt` shows which of them the service already has; `dropcast adopt --confirm` does the rest.',
    ),
    actions: ['adopt', 'ignore'],
  },
  not_found: {
    is: both('could not be created: the service does not know the channel'),
    next: says(
      'Correct the channel in the rule or send it to another one, then retry.',
      'Correct the channel in the rule or send them to another one, then retry.',
    ),
    actions: ['send elsewhere', 'retry', 'ignore'],
  },
  processing_failed: {
    is: both('could not be processed by the service'),
    next: says(
      'Check it: it may be damaged or not a video. Replace or ignore it, or retry.',
      'Check one of them: it may be damaged or not a video. Replace or ignore them, or retry.',
    ),
    actions: ['ignore', 'retry'],
  },
  gave_up: {
    is: says('was not processed in time', 'were not processed in time'),
    next: both('Retry: dropcast waits again, and uploads nothing twice.'),
    actions: ['retry', 'ignore'],
  },
  not_received: {
    is: says(
      'was sent, but the service says that nothing has arrived',
      'were sent, but the service says that nothing has arrived',
    ),
    next: says(
      'Check the network for a login page or a proxy, then retry: dropcast asks the service, then sends the file again.',
      'Check the network for a login page or a proxy, then retry: dropcast asks the service, then sends them again.',
    ),
    actions: ['retry', 'ignore'],
  },
  not_confirmed: {
    is: says(
      'may have arrived, but the service does not show it and the upload address stopped working',
      'may have arrived, but the service does not show them and their upload addresses stopped working',
    ),
    next: says(
      'Check the video on the service. A retry sends the file to a new record.',
      'Check the videos on the service. A retry sends each file to a new record.',
    ),
    actions: ['retry', 'ignore'],
  },
  video_id_taken: {
    is: says("got the id of another file's video", "got the ids of other files' videos"),
    next: both('Check the service, then retry.'),
    actions: ['retry', 'ignore'],
  },
  import_in_doubt: {
    is: both('may have been imported: the service did not answer'),
    next: says(
      'Check the service first. Retry the file if it is not there; otherwise ignore it.',
      'Check the service first. Retry files that are not there, and ignore the others.',
    ),
    actions: ['ignore', 'retry'],
  },
  upload_address_dead: {
    is: says('got an upload address that does not work', 'got upload addresses that do not work'),
    next: says('Retry: it gets a new address.', 'Retry: each gets a new address.'),
    actions: ['retry', 'ignore'],
  },
  over_size_limit: {
    is: says('is larger than the limit', 'are larger than the limit'),
    next: says(
      'Its reason names the limit: `uploads.max_size`, or what the service accepts. It resumes once the limit is higher; a retry tries it at once.',
      'Their reasons name the limit: `uploads.max_size`, or what the service accepts. They resume once the limit is higher; `dropcast retry FILE` tries one at once.',
    ),
    actions: ['ignore'],
  },
};

const others: Readonly<Record<string, Words | undefined>> = {
  deleted_on_service: {
    is: says('was deleted on the service', 'were deleted on the service'),
    next: says(
      'Ignore it if that was on purpose. A retry uploads it again.',
      'Ignore them if that was on purpose. A retry uploads them again.',
    ),
    actions: ['ignore', 'retry'],
  },
  checksum_mismatch: {
    is: says('differs from the checksum of its sender', 'differ from the checksums of their sender'),
    next: says(
      'Copy it again; it resumes once the checksum matches.',
      'Copy them again; they resume once the checksum matches.',
    ),
    actions: ['ignore', 'retry'],
  },
  checksum_unreadable: {
    is: says('has a checksum that cannot be read', 'have checksums that cannot be read'),
    next: says(
      'Correct or remove the checksum; the file then resumes.',
      'Correct or remove the checksums; the files then resume.',
    ),
    actions: ['ignore', 'retry'],
  },
  feed_not_found: {
    is: says('is ready, but the service does not know its feed', 'are ready, but the service does not know their feed'),
    next: both('Correct the feed in the rule, then retry.'),
    actions: ['retry', 'ignore'],
  },
};

/**
 * Describes causes that name something (a channel, a field, an error on this machine), or whose remedy depends on what
 * was found.
 */
function openEnded(caused: Caused): Words {
  const { cause } = caused;
  if (cause === 'flawed') return flawed(caused);
  if (cause === 'unreadable' || cause === 'closed_directory') return closed(caused);
  if (cause.startsWith('local.')) return local(caused);
  if (cause.startsWith(withoutChannel)) return noChannel(cause.slice(withoutChannel.length));
  if (cause.startsWith(withoutFeed)) return noFeed(cause.slice(withoutFeed.length));
  return asked(caused);
}

/** Copying again helps neither recordings made through a pipe nor files that are not videos. */
function flawed({ message }: Caused): Words {
  const one = message.includes('states no length')
    ? 'Once its recording has ended, `dropcast retry --force` uploads it as it is. Copying it again does not add a length.'
    : message.startsWith('this is ')
      ? 'Replace it with the video, or ignore it. `dropcast retry --force` uploads it as it is.'
      : 'Copy it again. `dropcast retry --force` uploads it as it is.';
  return {
    is: says('is empty, incomplete or not a video', 'are empty, incomplete or not videos'),
    next: says(
      one,
      'Copy incomplete files again. Copying does not help a recording that states no length, as through a pipe, or a file that is not a video. `dropcast retry --force` uploads files as they are.',
    ),
    actions: ['ignore', 'force retry'],
  };
}

/** A single file's message contains the command for it; for several files, `ls` lists each command. */
function closed({ cause, message }: Caused): Words {
  const isDirectory = cause === 'closed_directory';
  const without =
    'Where the file system has no access control lists (setfacl: Operation not supported), let the group of the service read: `chgrp` and `chmod g+r`, for a directory `g+rx`.';
  return {
    ...(isDirectory && { noun: says('directory', 'directories') }),
    is: both('cannot be read by dropcast'),
    next: says(
      `${wholeSentence(message)} Then it continues without another command. ${without}`,
      `Each has its own command, like this one: ${message}. Then they continue without another command. ${without}`,
    ),
    actions: ['ignore'],
  };
}

const withoutFeed = `${unknownNameCodes.feed}.`;

function noFeed(feed: string): Words {
  return {
    is: says(
      `is ready, but the service does not have its feed ${feed}`,
      `are ready, but the service does not have their feed ${feed}`,
    ),
    next: says(
      'Create the feed on the service: dropcast then publishes it, or publish it now. Or correct the feed in the rule or sidecar, and apply the rules again.',
      'Create the feed on the service: dropcast then publishes them, or publish them now. Or correct the feed in the rule or sidecar, and apply the rules again.',
    ),
    actions: ['publish', 'reapply'],
  };
}

const withoutChannel = `${unknownNameCodes.channel}.`;

function noChannel(channel: string): Words {
  return {
    is: says(
      `waits for channel ${channel}, which the service does not have`,
      `wait for channel ${channel}, which the service does not have`,
    ),
    next: says(
      'Send it to another channel and correct the rule or sidecar, or create the channel on the service: then it continues automatically.',
      'Send them to another channel and correct the rule or sidecar, or create the channel on the service; they then resume.',
    ),
    actions: ['send elsewhere', 'ignore'],
  };
}

function local({ message }: Caused): Words {
  return {
    is: says(
      `is done, but its local file cannot be deleted or moved: ${message}`,
      `are done, but their local files cannot be deleted or moved: ${message}`,
    ),
    next: both('Remove the obstacle; dropcast keeps trying, and a retry tries at once.'),
    actions: ['retry'],
  };
}

/** Describes error codes from the service or this machine. */
function asked({ cause, message }: Caused): Words {
  return {
    is: both(`stopped: ${message}`),
    next: both('Correct that, then retry.'),
    actions: cause.endsWith('.channel_id') ? ['send elsewhere', 'retry', 'ignore'] : ['retry', 'ignore'],
  };
}
