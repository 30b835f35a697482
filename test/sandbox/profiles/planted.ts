import type { Violation } from '../../reliability/judge/invariants.ts';
import { bugs } from '../../reliability/planted/bugs.ts';
import type { Edit } from '../../reliability/planted/plant.ts';
import type { Flaw } from './life-judge.ts';
import type { LifeName } from './lives.ts';

/** A fault of the daemon, and who has to notice it. */
interface PlantedBug {
  readonly edits: readonly Edit[];
  /** Lives in which it shows: of some faults only with a service that brings them to light. One of them is enough. */
  readonly lives: readonly LifeName[];
  readonly caughtBy: readonly (Flaw | Violation)['invariant'][];
}

const everywhere: readonly LifeName[] = Array.from({ length: 8 }, (_, n) => `default@${n + 1}` as const);

export const plantedBugs: Readonly<Record<string, PlantedBug>> = {
  'an upload is repeated without asking first': {
    edits: bugs['an upload is repeated without asking first'].edits,
    lives: ['strict@1', 'strict@2', 'lenient@1', 'lenient@2', 'lenient@3'],
    caughtBy: ['no record gets a second complete body'],
  },
  'equal content is not looked for': {
    edits: bugs['equal content is not looked for'].edits,
    lives: everywhere,
    caughtBy: ['no content is a video twice'],
  },
  'only the statuses of the default count as success': {
    edits: [
      {
        anchor: 'return status >= 200 && status <= 299;',
        instead: 'return status === 200 || status === 201 || status === 204;',
      },
    ],
    lives: ['queued-publish@1'],
    caughtBy: ['it gets there', 'every file on disk is ready, or a person is notified'],
  },
  'an unknown status counts as failed': {
    edits: [
      {
        anchor: 'type: "REMOTE_STATUS", status,',
        instead: 'type: "REMOTE_STATUS", status: status === "transcoding" ? "failed" : status,',
      },
    ],
    lives: ['new-words@1', 'new-words@2', 'new-words@3', 'new-words@4', 'new-words@5'],
    caughtBy: ['only unplayable files need a person', 'every file on disk is ready, or a person is notified'],
  },
  'metadata that comes late is not sent': {
    edits: [
      {
        anchor: 'isEmpty(amendment) ? nothingToSay : await host.amend(facts, signal)',
        instead: 'nothingToSay',
      },
    ],
    lives: everywhere,
    caughtBy: ['a video says what the sidecar of its file says, however late it came'],
  },
  'a feed is not published again when a video of it changes': {
    edits: [
      {
        anchor: 'for (const feed of feedsOf(facts)) await store.noteFeedDue(feed, clock.now(), false);',
        instead: '',
      },
    ],
    lives: everywhere,
    caughtBy: ['the feed has every video that is ready'],
  },
  'a record that is replaced is not deleted': {
    edits: [
      {
        anchor: 'const failure = await deleteVideo(videoId, signal, of);',
        instead: 'const failure = null as Failure | null;',
      },
    ],
    lives: everywhere,
    caughtBy: ['every empty record is in use or listed'],
  },
  'the headers that an upload needs are not kept': {
    edits: [{ anchor: 'uploadHeaders: isImport ? null : uploadHeaders,', instead: 'uploadHeaders: null,' }],
    lives: ['upload-headers@1', 'required-headers@1', 'listed-headers@1'],
    // Without the headers, no upload ever succeeds.
    caughtBy: ['it gets there', 'no request is refused by the service'],
  },
  'a file that is too large fails': {
    edits: [
      {
        anchor: 'return mayHaveArrived(before) ? setback(failure) : withoutRecord(row, failure, world);',
        instead: 'return setback(failure);',
      },
    ],
    lives: ['small-uploads@1', 'small-objects@1'],
    caughtBy: [
      'files that are too large for the service are held until it takes them',
      'only unplayable files need a person',
    ],
  },
  'a service that takes larger files again releases none': {
    edits: [{ anchor: 'if (isReviewDue) await review();', instead: '' }],
    lives: ['small-uploads@1', 'small-files@1'],
    caughtBy: ['it gets there'],
  },
  'nothing is learnt from a signature mismatch': {
    edits: [{ anchor: 'this.#of(choice.url).isTypeSent ?? true', instead: 'true' }],
    lives: ['signed-without-type@1', 'signed-without-type@2'],
    caughtBy: ['it gets there', 'no request is refused by the service'],
  },
};
