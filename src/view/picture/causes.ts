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
  const { cause: key, message } = caused;
  const { noun, is, next, actions } = wordsOf(caused);
  const isOne = caused.files === 1;
  const names: Readonly<Record<string, string>> = {
    message,
    sentence: wholeSentence(message),
    name: key.slice(key.indexOf('.') + 1),
  };
  const said = (text: string): string =>
    text
      .replaceAll(/\{([^|]*)\|([^}]*)\}/g, isOne ? '$1' : '$2')
      .replaceAll(/%([a-z]+)/g, (_, name: string) => names[name] ?? '');
  const files = noun === undefined ? filesOf(caused) : `${caused.files} ${said(noun)}`;
  return { key, title: `${files} ${said(is)}`, next: said(next), actions };
}

/** In sentences, `{one|many}` depends on the number of files, and `%message` is the message of one of them. */
interface Words extends Pick<Cause, 'actions'> {
  /** The noun, for entries that are not files. */
  readonly noun?: string;
  /** The problem, after the number of files. */
  readonly is: string;
  readonly next: string;
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

/** Finds the words of a cause. Some causes name something: a channel, a field, an error on this machine. */
function wordsOf({ cause, message }: Caused): Words {
  const named = byPrefix.find(([prefix]) => cause.startsWith(prefix))?.[1];
  const words = byCode[cause as keyof typeof byCode] ?? others[cause] ?? named;
  if (cause === 'flawed') return { ...byCode.flawed, next: flawedNext(message) };
  if (words !== undefined) return words;
  // Error codes from the service or this machine.
  const actions: readonly CauseAction[] = cause.endsWith('.channel_id')
    ? ['send elsewhere', 'retry', 'ignore']
    : ['retry', 'ignore'];
  return { is: 'stopped: %message', next: 'Correct that, then retry.', actions };
}

/** Copying again helps neither recordings made through a pipe nor files that are not videos. */
function flawedNext(message: string): string {
  const one = message.includes('states no length')
    ? 'Once its recording has ended, `dropcast retry --force` uploads it as it is. Copying it again does not add a length.'
    : message.startsWith('this is ')
      ? 'Replace it with the video, or ignore it. `dropcast retry --force` uploads it as it is.'
      : 'Copy it again. `dropcast retry --force` uploads it as it is.';
  return `{${one}|${byCode.flawed.next}}`;
}

/** A single file's message contains the command for it; for several files, `ls` lists each command. */
const closed: Words = {
  is: 'cannot be read by dropcast',
  next: '{%sentence Then it continues|Each has its own command, like this one: %message. Then they continue} without another command. Where the file system has no access control lists (setfacl: Operation not supported), let the group of the service read: `chgrp` and `chmod g+r`, for a directory `g+rx`.',
  actions: ['ignore'],
};

/** Ignored files and those taken back are omitted: they need no attention. */
const byCode: Readonly<Record<Exclude<ReasonCode, 'ignored' | 'taken_back'>, Words>> = {
  no_rule: {
    is: '{matches|match} no rule',
    next: 'Add a rule for {it|them}, or ignore {it|them}.',
    actions: ['ignore'],
  },
  sidecar: {
    is: '{has a sidecar|have sidecars} that cannot be read',
    next: 'Correct the {sidecar; the file then resumes|sidecars; the files then resume}.',
    actions: ['ignore'],
  },
  flawed: {
    is: '{is empty, incomplete or not a video|are empty, incomplete or not videos}',
    next: 'Copy incomplete files again. Copying does not help a recording that states no length, as through a pipe, or a file that is not a video. `dropcast retry --force` uploads files as they are.',
    actions: ['ignore', 'force retry'],
  },
  unreadable: closed,
  closed_directory: { ...closed, noun: '{directory|directories}' },
  existing: {
    is: '{was|were} there before dropcast watched the folder',
    next: '`dropcast adopt` shows {whether|which of them} the service already has{ it|}; `dropcast adopt --confirm` does the rest.',
    actions: ['adopt', 'ignore'],
  },
  not_found: {
    is: 'could not be created: the service does not know the channel',
    next: 'Correct the channel in the rule or send {it|them} to another one, then retry.',
    actions: ['send elsewhere', 'retry', 'ignore'],
  },
  processing_failed: {
    is: 'could not be processed by the service',
    next: 'Check {it|one of them}: it may be damaged or not a video. Replace or ignore {it|them}, or retry.',
    actions: ['ignore', 'retry'],
  },
  gave_up: {
    is: '{was|were} not processed in time',
    next: 'Retry: dropcast waits again, and uploads nothing twice.',
    actions: ['retry', 'ignore'],
  },
  not_received: {
    is: '{was|were} sent, but the service says that nothing has arrived',
    next: 'Check the network for a login page or a proxy, then retry: dropcast asks the service, then sends {the file|them} again.',
    actions: ['retry', 'ignore'],
  },
  not_confirmed: {
    is: 'may have arrived, but the service does not show {it and the upload address|them and their upload addresses} stopped working',
    next: 'Check the {video|videos} on the service. A retry sends {the|each} file to a new record.',
    actions: ['retry', 'ignore'],
  },
  video_id_taken: {
    is: "got the {id of another file's video|ids of other files' videos}",
    next: 'Check the service, then retry.',
    actions: ['retry', 'ignore'],
  },
  import_in_doubt: {
    is: 'may have been imported: the service did not answer',
    next: 'Check the service first. Retry {the file if it is not there; otherwise ignore it|files that are not there, and ignore the others}.',
    actions: ['ignore', 'retry'],
  },
  upload_address_dead: {
    is: 'got {an upload address that does|upload addresses that do} not work',
    next: 'Retry: {it|each} gets a new address.',
    actions: ['retry', 'ignore'],
  },
  over_size_limit: {
    is: '{is|are} larger than the limit',
    next: '{Its reason names|Their reasons name} the limit: `uploads.max_size`, or what the service accepts. {It resumes|They resume} once the limit is higher; {a retry tries it|`dropcast retry FILE` tries one} at once.',
    actions: ['ignore'],
  },
};

const others: Readonly<Record<string, Words | undefined>> = {
  deleted_on_service: {
    is: '{was|were} deleted on the service',
    next: 'Ignore {it|them} if that was on purpose. A retry uploads {it|them} again.',
    actions: ['ignore', 'retry'],
  },
  checksum_mismatch: {
    is: '{differs from the checksum of its|differ from the checksums of their} sender',
    next: 'Copy {it|them} again; {it resumes|they resume} once the checksum matches.',
    actions: ['ignore', 'retry'],
  },
  checksum_unreadable: {
    is: '{has a checksum|have checksums} that cannot be read',
    next: 'Correct or remove the {checksum; the file then resumes|checksums; the files then resume}.',
    actions: ['ignore', 'retry'],
  },
  feed_not_found: {
    is: '{is ready, but the service does not know its|are ready, but the service does not know their} feed',
    next: 'Correct the feed in the rule, then retry.',
    actions: ['retry', 'ignore'],
  },
};

const byPrefix: readonly (readonly [prefix: string, words: Words])[] = [
  [
    'local.',
    {
      is: '{is done, but its local file|are done, but their local files} cannot be deleted or moved: %message',
      next: 'Remove the obstacle; dropcast keeps trying, and a retry tries at once.',
      actions: ['retry'],
    },
  ],
  [
    `${unknownNameCodes.channel}.`,
    {
      is: '{waits|wait} for channel %name, which the service does not have',
      next: 'Send {it|them} to another channel and correct the rule or sidecar, or create the channel on the service{: then it continues automatically|; they then resume}.',
      actions: ['send elsewhere', 'ignore'],
    },
  ],
  [
    `${unknownNameCodes.feed}.`,
    {
      is: '{is ready, but the service does not have its|are ready, but the service does not have their} feed %name',
      next: 'Create the feed on the service: dropcast then publishes {it|them}, or publish {it|them} now. Or correct the feed in the rule or sidecar, and apply the rules again.',
      actions: ['publish', 'reapply'],
    },
  ],
];
