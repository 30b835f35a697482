import { readFileSync } from 'node:fs';

/** States that no row is ever stored in: a step runs, or the machine passes through. */
const passing = new Set(['creating', 'uploading', 'resuming']);

/** What intake and reload do to a row, outside of the machine (src/intake/reroute.ts). */
const besideTheMachine: readonly (readonly [string, string])[] = [
  // A rule or sidecar changed before anything was sent.
  ['queued', 'held'],
  ['retrying', 'held'],
  ['held', 'queued'],
  // The file is there again, and is judged anew.
  ['vanished', 'held'],
];

/** Pure: the first step of a file's history that the machine does not know, or null. Lines of the same state are notes. */
export function illegalStep(states: readonly string[]): string | null {
  const at = states.findIndex((state, n) => {
    const before = states[n - 1] ?? '[*]';
    return before !== state && !(edges().get(before)?.has(state) ?? false);
  });
  return at < 0 ? null : `${states[at - 1] ?? 'the start'} → ${states[at]}`;
}

let known: ReadonlyMap<string, ReadonlySet<string>> | null = null;

/** From the diagram, which `npm run generate` writes from the machine and a test keeps fresh. */
function edges(): ReadonlyMap<string, ReadonlySet<string>> {
  return (known ??= readEdges());
}

function readEdges(): ReadonlyMap<string, ReadonlySet<string>> {
  const diagram = readFileSync(new URL('../../../docs/file-machine.mmd', import.meta.url), 'utf8');
  const single = new Map<string, Set<string>>();
  const add = (from: string, to: string): unknown => single.set(from, (single.get(from) ?? new Set()).add(to));
  for (const [, from = '', to = ''] of diagram.matchAll(/^\s*(\S+) --> (\S+)/gm)) add(word(from), word(to));
  for (const [from, to] of besideTheMachine) add(from, to);
  // A new file may be held at once; one that receipts tell of after a ledger was restored is where they left it.
  for (const first of ['held', 'awaiting upload', 'processing', 'awaiting publish', 'done']) add('[*]', first);
  const reachable = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const to of single.get(from) ?? []) {
      if (seen.has(to)) continue;
      seen.add(to);
      if (passing.has(to)) reachable(to, seen);
    }
    return seen;
  };
  return new Map([...single.keys()].map((from) => [from, reachable(from)]));
}

function word(name: string): string {
  return name.startsWith('[') ? name : name.replaceAll('_', ' ');
}
