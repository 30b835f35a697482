import { stopping, type Message } from '@dropcast/notify';
import { statesIn } from '../../view/stages.ts';
import type { Pause } from '../../pipeline/events.ts';
import type { Totals } from '../../ledger/totals.ts';
import { counted } from '../../view/words/text.ts';
import { causeOfStop } from './troubles.ts';

type Waiting = Pick<Totals, 'by state'> & { readonly backlog: Pick<Totals['backlog'], 'toCreate' | 'toSend'> };

/**
 * Adds the number of waiting files to messages that report stopped work. Pure.
 *
 * @param waiting counts of all files
 * @param pauses all current pauses, which say what each message is about
 */
export function withWaitingFiles(
  messages: readonly Message[],
  waiting: Waiting,
  pauses: readonly Pause[],
): readonly Message[] {
  return messages.map((message) => {
    const isStop = message.type !== 'test' && message.type !== 'digest' && stopping.has(message.type);
    const pause = pauses.find((each) => causeOfStop(each) === message.cause);
    const line = isStop ? lineOf(pause, waiting) : '';
    return line === '' ? message : { ...message, body: `${message.body}\n${line}`.trim() };
  });
}

/** Returns an empty text if no file waits, or if it is unknown how many do. */
function lineOf(pause: Pause | undefined, waiting: Waiting): string {
  // The ledger does not count files by channel.
  if (pause?.channel !== undefined) return '';
  const holds = pause?.holds ?? 'everything';
  const files = heldBy(holds, waiting);
  const one = holds === 'new files' ? 'new file' : 'file';
  if (files === 0) return '';
  return `${counted(files, `${one} waits`, `${one}s wait`)}.`;
}

function heldBy(holds: Pause['holds'], { 'by state': counts, backlog }: Waiting): number {
  if (holds === 'new files') return backlog.toCreate;
  if (holds === 'uploads') return backlog.toSend;
  return unfinished.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

const unfinished: readonly string[] = [
  ...statesIn.queued,
  ...statesIn.uploading,
  ...statesIn.processing,
  ...statesIn.publishing,
  'retrying',
];
