import type { DropcastEvent } from '../pipeline/events.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import { channelRefusal } from '../pipeline/file/reasons.ts';
import { awayCode } from '../pipeline/file/store-errors.ts';
import type { Logger } from '../log/logger.ts';
import { eventWords } from '../view/words/events.ts';
import type { NewsLevel } from '../view/words/events.ts';

/** Logs each file's progress and why anything is waiting. */
export function logEvents(logger: Logger): (event: DropcastEvent) => void {
  return (event) => {
    const words = eventWords(event, Date.now());
    const fields = words && fieldsOf(event, words.level);
    if (words !== null && fields !== null) logger[levelOf(event, words.level)](words.title, fields);
  };
}

/** Logs errors as warnings if the table of files shows them: `dropcast once` prints errors above its progress. */
function levelOf(event: DropcastEvent, level: NewsLevel): NewsLevel | 'debug' {
  // The connection pool logs the start and end of a database outage.
  if ((event.type === 'paused' || event.type === 'resumed') && event.pause.code === awayCode) return 'debug';
  // The ledger and the failure log record every attempt.
  if (event.type === 'failure' && event.isRepeated && event.facts.end === null) return 'debug';
  return level === 'error' && event.type !== 'name' ? 'warn' : level;
}

/** Returns the fields to log. Null: the event is logged where it happens, or is not a step of a file. */
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
    case 'late':
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

/** Omits a file's arrival and its return to the queue, which are logged elsewhere. */
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
