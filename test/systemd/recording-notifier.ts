import { textOf } from '../../src/systemd/notifier.ts';
import type { Notifier } from '../../src/systemd/notifier.ts';

/** Keeps what would be sent. */
export function recordingNotifier(watchdogMs: number | null = null): {
  readonly notifier: Notifier;
  readonly sent: string[];
} {
  const sent: string[] = [];
  const notifier: Notifier = {
    backend: 'fd',
    watchdogMs,
    send: (notice) => sent.push(textOf(notice)),
    [Symbol.dispose]: () => sent.push('closed'),
  };
  return { notifier, sent };
}
