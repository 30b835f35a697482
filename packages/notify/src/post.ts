import type { MessageTarget } from './target.ts';
import { droppedName, mostWaiting } from './delivery.ts';
import type { Message } from './message.ts';
import type { Outbox, TargetResults } from './ports.ts';

/** Maximum age of a waiting message; older ones are dropped. */
const longestWaitMs = 3 * 24 * 3_600_000;

/**
 * Adds messages to the outbox for every target that wants them, in the same transaction as what to remember about them.
 * Messages that do not fit are dropped and counted.
 *
 * @returns names of the targets with new messages
 */
export async function post(
  { outbox, results }: { readonly outbox: Outbox; readonly results: TargetResults },
  targets: readonly MessageTarget[],
  {
    messages,
    personal = () => [],
    remember,
    now,
  }: {
    readonly messages: readonly Message[];
    /** Messages for one target only, regardless of `on`. A target that wants all messages of a kind gets those instead. */
    personal?(target: MessageTarget): readonly Message[];
    readonly remember: Readonly<Record<string, unknown>>;
    readonly now: number;
  },
): Promise<readonly string[]> {
  const posted = targets.flatMap((target) =>
    [
      ...messages.filter((message) => isWanted(target, message)),
      ...personal(target).filter((message) => !isWanted(target, message)),
    ].map((message) => ({ target: target.name, message, at: now })),
  );
  await outbox.commit({ remember, post: posted });
  const names = [...new Set(posted.map(({ target }) => target))];
  for (const target of targets) {
    if (!names.includes(target.name)) continue;
    const keep = { newest: mostWaiting, since: now - longestWaitMs, countIn: droppedName(target.name) };
    const dropped = await outbox.trim(target.name, keep);
    if (dropped > 0) results.dropped(target, dropped);
  }
  return names;
}

function isWanted({ on }: MessageTarget, { type, of }: Message): boolean {
  return on.some((kind) => kind === type) && (of === undefined || on.includes(of));
}
