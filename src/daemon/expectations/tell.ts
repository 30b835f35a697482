import type { Logger } from '../../log/logger.ts';
import type { Clock } from '../../pipeline/file/ports.ts';
import type { NewsLines } from '../news/lines.ts';
import { expectationWords } from '../../view/words/expectation-words.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';

/** Says in log and events what is missing, late, or there after all. */
export function tellExpectation(world: {
  readonly news: Pick<NewsLines, 'add'>;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'now'>;
}): (view: ExpectationView) => void {
  return (view) => {
    const { folder, match, day, state } = view;
    const text = `${match}: ${expectationWords(view, world.clock.now())}`;
    const level = state === 'recovered' ? 'info' : 'warn';
    world.logger[level](messages[state] ?? 'Expected files changed', { folder, match, day, state, why: text });
    world.news.add({ level, type: 'expectation', file: null, folder, path: null, state, text });
  };
}

const messages: Partial<Record<ExpectationView['state'], string>> = {
  missing: 'An expected file is missing',
  late: 'An expected file is late',
  recovered: 'An expected file is there, too late',
};
