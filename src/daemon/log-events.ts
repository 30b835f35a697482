import type { DropcastEvent } from '../pipeline/events.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import { channelRefusal, isIgnored } from '../pipeline/file/reasons.ts';
import { isHeldByRules } from '../pipeline/file/reasons.ts';
import { awayCode } from '../pipeline/file/store-errors.ts';
import type { Logger } from '../log/logger.ts';

/** States that say nothing new, or that the failure before them has said already. */
const silent = new Set<string>(['queued', 'retrying', 'failed', 'held', 'skipped']);

/** Writes the news to the log, so that it tells the way of each file to its end, and why anything waits. */
export function logEvents(logger: Logger): (event: DropcastEvent) => void {
  return (event) => {
    switch (event.type) {
      case 'arrival': {
        const { path, size, as, heldBecause } = event;
        if (heldBecause === null) return logger.info('A file came in', { path, as, size });
        return logger.warn('A file came in and is held', { path, as, size, why: heldBecause });
      }
      case 'file':
        return logFile(event, logger);
      case 'failure':
        return logFailure(event, logger);
      case 'feed':
        if (event.failure !== null)
          logger.warn('A feed was not published', { feed: event.feed, failure: event.failure });
        return undefined;
      case 'request':
      case 'elsewhere':
        return undefined; // where it happened, with its id
      case 'paused':
        return logger[isOutage(event.pause) ? 'debug' : 'warn']('Paused', {
          kind: event.pause.kind,
          why: event.pause.why,
          code: event.pause.code,
          next: new Date(event.pause.nextProbeAt).toISOString(),
        });
      case 'resumed':
        return logger[isOutage(event.pause) ? 'debug' : 'info']('Resumed', { after: event.pause.why });
      case 'name': {
        const { kind, name } = event;
        if (event.isKnown) return logger.info('The service has a channel or feed again', { kind, name });
        return logger.error('The service has no such channel or feed; what goes there waits', { kind, name });
      }
      case 'operator-pause': {
        const { folder, by, until } = event.pause;
        const place = { ...(folder !== null && { folder }) };
        if (event.is === 'over')
          return logger.info('A pause ended', { ...place, ...(event.by !== null && { by: event.by }) });
        return logger.info('Work was paused', {
          ...place,
          by,
          ...(until !== null && { until: new Date(until).toISOString() }),
        });
      }
      case 'refusal': {
        const { id, folder, path } = event.facts;
        return logger.warn('Not done', { file: id, path: `${folder}/${path}`, why: event.why });
      }
      case 'folder': {
        const { folder, state, why } = event;
        return logger[state === 'watching' ? 'info' : 'warn'](folderNews[state], {
          folder,
          state,
          ...(why !== null && { why }),
        });
      }
    }
  };
}

const folderNews = {
  watching: 'A folder is watched',
  scanning: 'A folder is scanned: its events are incomplete',
  frozen: 'A folder cannot be used; its files wait',
} as const;

/** A row that stays in its state is only written, amended or put away: no news. */
function logFile({ before, facts }: Extract<DropcastEvent, { type: 'file' }>, logger: Logger): void {
  const { id, folder, path, videoId, disposal, why } = facts;
  if (disposal === 'refused' && before?.disposal !== 'refused')
    logger.warn('The local file is kept', { file: id, path: `${folder}/${path}`, why });
  const refusal = channelRefusal(facts);
  if (refusal !== null && before !== null && channelRefusal(before) !== refusal)
    logger.warn('Not done', { file: id, path: `${folder}/${path}`, why: refusal });
  if (isIgnored(facts) && before !== null && !isIgnored(before))
    return logger.info('A file was ignored', { file: id, path: `${folder}/${path}`, why });
  const state = stateOf(facts);
  // What comes in held, or comes back so, is an arrival.
  const wasOnItsWay = before !== null && before.end !== 'held' && before.end !== 'vanished';
  if (wasOnItsWay && isHeldByRules(facts)) logger.warn('A file is held', { file: id, path: `${folder}/${path}`, why });
  if (silent.has(state) || (before !== null && stateOf(before) === state)) return;
  const fields = { file: id, state, path: `${folder}/${path}`, ...(videoId !== null && { video: videoId }) };
  logger.info('A file moved on', fields);
}

/** A file that is tried again and again for the same reason is one line: the ledger and the failure log have each try. */
function logFailure(
  { facts, failure, next, isRepeated }: Extract<DropcastEvent, { type: 'failure' }>,
  logger: Logger,
): void {
  const fields = {
    file: facts.id,
    path: `${facts.folder}/${facts.path}`,
    class: failure.kind,
    code: failure.code,
    why: failure.message,
    next,
  };
  if (failure.kind === 'duplicate' || failure.kind === 'vanished') logger.info('A file ended', fields);
  else if (isRepeated && facts.end === null) logger.debug('A step failed again', fields);
  else logger.warn('A step failed', fields);
}

/** The database of a fleet is away: whoever connects to it tells when that begins and ends. */
function isOutage({ code }: { readonly code: string }): boolean {
  return code === awayCode;
}
