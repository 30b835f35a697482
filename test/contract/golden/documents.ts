import { isCallExpression } from 'typescript/unstable/ast/is';
import type { Type } from 'typescript/unstable/sync';
import { shapeOf } from './json-shape.ts';
import type { Place } from './json-shape.ts';
import { nameOfCall } from './program.ts';
import type { CompiledProgram } from './program.ts';

/** Functions that print their first argument as a document. */
const printing = new Set(['printJson', 'printResult', 'printList']);

/** Command → the functions whose calls of these print its documents. */
export const printers: Readonly<Record<string, readonly string[]>> = {
  [`any command that fails`]: ['report'],
  add: ['add'],
  adopt: ['adopt', 'confirmIn', 'tellResult'],
  audit: ['audit', 'begin'],
  'analytics overview': ['analyticsOverview'],
  'analytics video': ['videoAnalytics'],
  'analytics videos': ['analyticsOfVideos'],
  'channels list': ['listChannels'],
  'channels update': ['updateChannel'],
  check: ['check'],
  doctor: ['doctor'],
  events: ['printLine'],
  explain: ['explain'],
  'feeds list': ['listFeeds'],
  'feeds publish': ['publishFeed'],
  hosts: ['hosts'],
  'hosts drain': ['drainHost'],
  'hosts forget': ['forgetHost'],
  first: ['first'],
  ignore: ['ignore'],
  'ledger copy': ['copyLedgerCommand'],
  ls: ['ls', 'lsLeftOut'],
  'notify test': ['notifyTest'],
  once: ['once'],
  open: ['open'],
  pause: ['pause'],
  plan: ['plan'],
  probe: ['printReport'],
  publish: ['publish'],
  reapply: ['reapply'],
  reload: ['reload'],
  resume: ['tellResult'],
  retry: ['retry'],
  sandbox: ['sandbox'],
  'sandbox compare': ['compareRecording'],
  'sandbox keys create': ['createKey'],
  'sandbox keys list': ['listKeys'],
  'sandbox keys revoke': ['revokeKey'],
  show: ['show'],
  status: ['status'],
  suspects: ['suspects'],
  top: ['top', 'printAll'],
  undo: ['undo'],
  'videos create': ['createVideo'],
  'videos delete': ['deleteVideo'],
  'videos get': ['getVideo'],
  'videos import': ['importVideo'],
  'videos list': ['listVideos'],
  'videos update': ['updateVideo'],
  'videos upload': ['printUpload'],
};

/** `dropcast failures --json` prints the lines of failures.jsonl as they are. */
const failureLog = { command: 'failures', call: 'append', within: 'openFailureLog' };

export interface Documents {
  /** Command → places of its documents, by path. */
  readonly shapes: ReadonlyMap<string, ReadonlyMap<string, Place>>;
  /** Functions that print JSON for no command of `printers`; it has to name them. */
  readonly unclaimed: readonly string[];
}

export function documentsOf({ nodes, checker }: CompiledProgram): Documents {
  const printed = new Map<string, Type[]>();
  const lines: Type[] = [];
  for (const { node, within } of nodes) {
    if (!isCallExpression(node)) continue;
    const [document] = node.arguments;
    const type = document === undefined ? undefined : checker.getTypeAtLocation(document);
    if (type === undefined) continue;
    const name = nameOfCall(node);
    if (name !== null && printing.has(name) && !printing.has(within))
      printed.set(within, [...(printed.get(within) ?? []), type]);
    if (name === failureLog.call && within === failureLog.within) lines.push(type);
  }
  const shapes = Object.entries(printers).map(([command, functions]) => {
    const types = functions.flatMap(
      (each) => printed.get(each) ?? fail(`no function ${each} prints JSON for ${command}`),
    );
    return [command, withVersion(shapeOf(types, checker))] as const;
  });
  const claimed = new Set(Object.values(printers).flat());
  return {
    shapes: new Map([...shapes, [failureLog.command, shapeOf(lines, checker)]]),
    unclaimed: [...printed.keys()].filter((name) => !claimed.has(name)),
  };
}

/** `printJson` adds `v` to each document. */
function withVersion(shape: ReadonlyMap<string, Place>): ReadonlyMap<string, Place> {
  return new Map([...shape, ['v', { types: new Set(['number']), words: new Set<string>(), isOptional: false }]]);
}

export function fail(message: string): never {
  throw new Error(message);
}
