import type { Figure } from './measure.ts';
import { importsOf, sourcesBelow } from './sources.ts';

/** Circles of imports, types included, and the arrows into the fleet. */
export function importFigures(root: string): readonly Figure[] {
  const src = sourcesBelow(root, 'src');
  const graph: Graph = new Map([...src, ...sourcesBelow(root, 'packages')].map((each) => [each.path, importsOf(each)]));
  const circles = circlesOf(graph);
  const within = circles.flatMap((circle) =>
    circle.flatMap((path) => (graph.get(path) ?? []).filter((imported) => circle.includes(imported))),
  );
  const isFleet = (path: string): boolean => path.startsWith('src/fleet/');
  const toFleet = src.filter(({ path }) => !isFleet(path) && graph.get(path)?.some(isFleet) === true);
  return [
    { of: 'circles of imports, with types', what: 'count', value: circles.length },
    { of: 'files in circles', what: 'count', value: circles.flat().length },
    { of: 'imports within circles', what: 'count', value: within.length },
    { of: 'files outside src/fleet that import from it', what: 'count', value: toFleet.length },
  ];
}

/** File → the files that it imports. */
type Graph = ReadonlyMap<string, readonly string[]>;

/** The strongly connected components of more than one file, by Tarjan's algorithm. */
function circlesOf(graph: Graph): readonly (readonly string[])[] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const open: string[] = [];
  /** @returns the lowest number of an open file that can be reached */
  const visit = (file: string): number => {
    const own = order.size;
    let lowest = own;
    order.set(file, own);
    open.push(file);
    for (const next of graph.get(file) ?? [])
      if (!order.has(next)) lowest = Math.min(lowest, visit(next));
      else if (open.includes(next)) lowest = Math.min(lowest, order.get(next) ?? own);
    if (lowest === own) found.push(open.splice(open.indexOf(file)));
    return lowest;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found.filter((files) => files.length > 1);
}
