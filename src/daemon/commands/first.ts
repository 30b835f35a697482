import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { stageOf } from '../../view/stages.ts';
import { heldWords } from '../../view/hosts/host-words.ts';
import type { Daemon } from '../daemon.ts';
import { Answers, Patience, wantedFiles } from './wanted.ts';
import type { CommandOptions, FilesResult, MarkWanted } from './wanted.ts';

/** Puts files before all others that wait, the first name foremost; undone, back in line. Costs no request. */
export async function first(
  daemon: Daemon,
  wanted: MarkWanted,
  { isPlanned = false }: CommandOptions = {},
): Promise<FilesResult> {
  const answers = new Answers();
  const { by, isUndone = false } = wanted;
  const patience = new Patience();
  let at = Date.now();
  for await (const file of wantedFiles(daemon, wanted, answers.refuse)) {
    const why = whyNot(daemon, file.facts, isUndone);
    const change = isUndone ? { firstAt: null } : { firstAt: at };
    const note = isUndone ? `no longer first, by ${by}` : `put first by ${by}`;
    const { id, folder } = file.facts;
    const isWritten = async (): Promise<boolean> =>
      (await patience.untilFree(folder, () => daemon.rows.claim(id, (row) => row.write(change, note)))) !== null;
    const refusal = why ?? (isPlanned || (await isWritten()) ? null : heldWords(daemon.fleet, id));
    if (refusal === null) answers.done.push(file.facts);
    else answers.leave(file, refusal);
    // The latest goes first.
    at -= 1;
  }
  daemon.conductor.wake();
  return { ...answers.result(isPlanned), requests: 0 };
}

function whyNot({ conductor }: Daemon, facts: Facts, isUndone: boolean): string | null {
  if (isUndone) return facts.firstAt === null || facts.end !== null ? 'not put first' : null;
  if (conductor.uploads().some(({ id }) => id === facts.id)) return 'it is being uploaded already';
  return ['queued', 'awaiting upload', 'retrying', 'processing'].includes(stateOf(facts))
    ? null
    : `${stageOf(facts, false)}: it waits for no turn`;
}
