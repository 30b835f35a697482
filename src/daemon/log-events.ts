import type { DropcastEvent } from '../pipeline/events.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import { channelRefusal } from '../pipeline/file/reasons.ts';
import { awayCode } from '../pipeline/file/store-errors.ts';
import type { Logger } from '../log/logger.ts';
import { eventWords } from '../view/words/events.ts';
import type { NewsLevel } from '../view/words/events.ts';

/** Writes events to the log: the way of each file to its end, and why anything waits. */
export function logEvents(logger: Logger): (event: DropcastEvent) => void {
  return (event) => {
    const words = eventWords(event, Date.now());
    const fields = words && fieldsOf(event, words.level);
    if (words !== null && fields !== null) logger[levelOf(event, words.level)](words.title, fields);
  };
}

/** `dropcast once` prints errors above its progress: of these it needs only what no table of files shows. */
function levelOf(event: DropcastEvent, level: NewsLevel): NewsLevel | 'debug' {
  // The connection pool logs when an outage of the database begins and ends.
  if ((event.type === 'paused' || event.type === 'resumed') && event.pause.code === awayCode) return 'debug';
  // The ledger and the failure log have each try of a file.
  if (event.type === 'failure' && event.isRepeated && event.facts.end === null) return 'debug';
  return level === 'error' && event.type !== 'name' ? 'warn' : level;
}

/** Null: the log has a line of its own where it happened, or the event is no step on the way of a file. */
function fieldsOf(event: DropcastEvent, level: NewsLevel) {
  switch (event.type) {
    case 'arrival': {
      const { path, size, as, heldBecause: why } = event;
      return { path, as, size, ...(why !== null && { why }) };
    }
    case 'file':
      return ofFile(event, level);
    case 'failure': {
      const { kind, code, message: why } = event.failure;
      return { ...nameOf(event), class: kind, code, why, next: event.next };
    }
    case 'feed':
      return event.failure && { feed: event.feed, failure: event.failure };
    case 'request':
    case 'elsewhere':
      return null;
    case 'paused': {
      const { kind, why, code, nextProbeAt } = event.pause;
      return { kind, why, code, next: new Date(nextProbeAt).toISOString() };
    }
    case 'resumed':
      return { after: event.pause.why };
    case 'name':
      return { kind: event.kind, name: event.name };
    case 'operator-pause':
      return ofOperatorPause(event);
    case 'refusal':
      return { ...nameOf(event), why: event.why };
    case 'folder': {
      const { folder, state, why } = event;
      return { folder, state, ...(why !== null && { why }) };
    }
    default:
      return event satisfies never;
  }
}

type Of<Type extends DropcastEvent['type']> = Extract<DropcastEvent, { type: Type }>;

function nameOf({ facts: { id, folder, path } }: { readonly facts: Of<'refusal'>['facts'] }) {
  return { file: id, path: `${folder}/${path}` };
}

/** The arrival of a file and its return to the queue are lines of others. */
function ofFile(event: Of<'file'>, level: NewsLevel) {
  const { before, facts } = event;
  const state = stateOf(facts);
  const isStep = before !== null && stateOf(before) !== state && state !== 'queued';
  if (before === null || (level === 'info' && !isStep)) return null;
  const { videoId, why } = facts;
  return {
    ...nameOf(event),
    state,
    ...(videoId !== null && { video: videoId }),
    ...(level === 'warn' && { why: channelRefusal(facts) ?? why }),
  };
}

function ofOperatorPause({ pause, is, by: endedBy }: Of<'operator-pause'>) {
  const { folder, by, until } = pause;
  const place = folder !== null && { folder };
  if (is === 'over') return { ...place, ...(endedBy !== null && { by: endedBy }) };
  return { ...place, by, ...(until !== null && { until: new Date(until).toISOString() }) };
}
