import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseSync, Visitor } from 'rolldown/utils';
import { startPreloaded } from '../../test/docs/preloaded-daemon.ts';
import { hopsBelow } from '../../test/docs/walk.ts';
import type { Coverage } from './coverage.ts';
import type { Figure } from './measure.ts';

/**
 * What one ordinary file costs a reader: the calls of a real daemon from the moment the file is dropped until it is put
 * away, beside the walk of docs/design.md. A file before it has loaded, compiled and connected what the first one
 * needs.
 *
 * Counted are the files of `src` and of the packages in which a function began, these functions (closures included),
 * and their calls. The loop also ticks for no file about once a second; its ticks are in it. A function adds at most
 * 100 calls: a look for open writers visits every process, and the machine has more of them at one time than at
 * another.
 */
export async function traceFigures(root: string): Promise<readonly Figure[]> {
  const page = readFileSync(join(root, 'docs/design.md'), 'utf8');
  const hops = ['Start', 'One file'].flatMap((heading) => hopsBelow(heading, page));
  const walked = new Set(hops.map(({ file }) => file));
  const of = (name: string, value: number): Figure => ({ of: name, what: 'count', value });
  return [
    of('hops of the walk', hops.length),
    of('files of the walk', walked.size),
    ...figuresOf(await callsOfOneFile(root), walked).map(({ name, value }) => of(name, value)),
  ];
}

/** A function that began. */
interface Calls {
  readonly file: string;
  readonly count: number;
  /** Calls nothing. */
  readonly isLeaf: boolean;
}

function figuresOf(calls: readonly Calls[], walked: ReadonlySet<string>): readonly { name: string; value: number }[] {
  const sum = (some: readonly Calls[]): number => some.reduce((total, { count }) => total + count, 0);
  const inner = calls.filter(({ isLeaf }) => !isLeaf);
  const share = sum(inner.filter(({ file }) => walked.has(file))) / sum(inner);
  return [
    { name: 'one file: files entered', value: new Set(calls.map(({ file }) => file)).size },
    { name: 'one file: functions entered', value: calls.length },
    { name: 'one file: calls', value: sum(calls) },
    {
      name: 'one file: % of the calls of functions that call others, in files of the walk',
      value: Math.round(share * 100),
    },
  ];
}

async function callsOfOneFile(root: string): Promise<readonly Calls[]> {
  const preload = join(import.meta.dirname, 'coverage.ts');
  await using daemon = await startPreloaded({ root, preload, logLevel: 'info' });
  const callsFor = async (name: string): Promise<Coverage> => {
    await daemon.drop(name);
    // The row learns last where the file is now. Nothing shows that without a question, which would be in the trace.
    await setTimeout(1_000);
    return coverageOf(daemon.process);
  };
  await callsFor('warm-up.mp4');
  return callsIn(await callsFor('clip.mp4'), root);
}

async function coverageOf(process: ChildProcess): Promise<Coverage> {
  const answer = once(process, 'message');
  process.send('take');
  return ((await answer) as [Coverage])[0];
}

/** Limit for one function. */
const mostCalls = 100;

/** The functions of `src` and of the packages that began. @param root of the checkout */
export function callsIn(coverage: Coverage, root: string): readonly Calls[] {
  const ours = coverage.filter(({ url }) => /^\/(src|packages)\//.test(url.replace(pathToFileURL(root).href, '')));
  return ours.flatMap(({ url, functions }) => {
    const path = fileURLToPath(url);
    const ranges = functions.flatMap((each) => each.ranges);
    const calling = new Set(positionsOfCalls(path).map((at) => innermost(ranges, at)));
    // The first range is the module itself.
    const began = ranges.filter(({ count, startOffset }) => count > 0 && startOffset > 0);
    return began.map((range) => ({
      file: relative(root, path),
      count: Math.min(range.count, mostCalls),
      isLeaf: !calling.has(range),
    }));
  });
}

type Range = Coverage[number]['functions'][number]['ranges'][number];

function innermost(ranges: readonly Range[], at: number): Range | undefined {
  const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= at && at < endOffset);
  return around.toSorted((one, other) => one.endOffset - one.startOffset - (other.endOffset - other.startOffset))[0];
}

/** Types are only blanked when Node loads a source, so the offsets of V8 are those of the file. */
function positionsOfCalls(path: string): readonly number[] {
  const found: number[] = [];
  const note = ({ start }: { readonly start: number }): void => void found.push(start);
  new Visitor({ CallExpression: note, NewExpression: note }).visit(parseSync(path, readFileSync(path, 'utf8')).program);
  return found;
}
