import { counted } from '@dropcast/pages';
import { statesIn } from '../../view/stages.ts';
import { stopping } from '@dropcast/notify';
import type { Message } from '@dropcast/notify';

/**
 * Adds the number of waiting files to messages that report stopped work. Pure.
 *
 * @param counts as in `LedgerSnapshot.counts`
 */
export function withWaitingFiles(
  messages: readonly Message[],
  counts: Readonly<Record<string, number>>,
): readonly Message[] {
  const files = unfinished.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  if (files === 0) return messages;
  const line = files === 1 ? '1 file waits.' : `${counted(files, 'file')} wait.`;
  return messages.map((message) => {
    const isStop = message.type !== 'test' && message.type !== 'digest' && stopping.has(message.type);
    return isStop ? { ...message, body: `${message.body}\n${line}`.trim() } : message;
  });
}

const unfinished: readonly string[] = [
  ...statesIn.queued,
  ...statesIn.uploading,
  ...statesIn.processing,
  ...statesIn.publishing,
  'retrying',
];
