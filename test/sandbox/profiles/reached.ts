import type { LifeEvidence } from './life-judge.ts';

/** What a life came by. A suite of lives in which one of them never happens tests less than it says. */
export const reachable = {
  'a file is done': ({ told }) => inState(told.said, 'done'),
  'a duplicate is skipped': ({ told }) => inState(told.said, 'skipped'),
  'a file changes before it is done': ({ told }) => inState(told.said, 'superseded') + inState(told.said, 'vanished'),
  'a file cannot be played': ({ told }) => inState(told.said, 'failed'),
  'a file is too large': ({ told }) => told.tooLarge,
  'a link is imported': ({ told }) => told.imports.length,
  'an upload meets an address that expired': ({ requests, expired }) =>
    requests.filter(
      ({ operation, path, status, fault }) =>
        operation === 'uploads.put' && fault === null && status >= 400 && expired.has(path.split('/')[2] ?? ''),
    ).length,
  'a record is deleted': ({ requests }) => asked(requests, 'videos.delete'),
  'a sidecar comes late': ({ requests }) => asked(requests, 'videos.update'),
  'a feed is published': ({ requests }) => asked(requests, 'feeds.publish'),
  'the key has used up its hour': ({ requests }) =>
    requests.filter(({ status, fault }) => status === 429 && fault === null).length,
  'a fault hits a request': ({ requests }) => requests.filter(({ fault }) => fault !== null).length,
  'a webhook is taken': ({ told }) => told.rung.filter((status) => status >= 200 && status < 300).length,
  'a webhook is refused': ({ told }) => told.rung.filter((status) => status >= 400).length,
  'the daemon is killed': ({ told }) => told.kills,
} satisfies Record<string, (evidence: LifeEvidence) => number>;

export type Reached = Readonly<Record<keyof typeof reachable, number>>;

export function reachedIn(evidence: LifeEvidence): Reached {
  return Object.fromEntries(Object.entries(reachable).map(([what, count]) => [what, count(evidence)])) as Reached;
}

export function sumOf(all: readonly Reached[]): Reached {
  const names = Object.keys(reachable) as (keyof Reached)[];
  return Object.fromEntries(
    names.map((name) => [name, all.reduce((sum, reached) => sum + reached[name], 0)]),
  ) as unknown as Reached;
}

function inState({ files }: LifeEvidence['told']['said'], state: string): number {
  return files.filter((file) => file.state === state).length;
}

function asked(requests: LifeEvidence['requests'], operation: string): number {
  return requests.filter((request) => request.operation === operation).length;
}
