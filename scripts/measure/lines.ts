import type { Figure } from './measure.ts';
import { sourcesBelow } from './sources.ts';
import type { Source } from './sources.ts';

/** Lines and files of `src`, of each of its folders, of each package and of the tests. */
export function lineFigures(root: string): readonly Figure[] {
  const src = sourcesBelow(root, 'src');
  const packages = sourcesBelow(root, 'packages');
  const folders = Map.groupBy([...src, ...packages], ({ path }) => path.split('/').slice(0, 2).join('/'));
  const nested = [...folders].filter(([folder]) => !folder.endsWith('.ts'));
  return [
    ...figuresOf('src', src),
    ...nested.flatMap(([folder, sources]) => figuresOf(folder, sources)),
    ...figuresOf('test', sourcesBelow(root, 'test')),
  ];
}

function figuresOf(of: string, sources: readonly Source[]): readonly Figure[] {
  const kinds = sources.flatMap(kindsOf);
  const counted = ['code', 'comments', 'imports', 'blank'].map((what) => ({
    what,
    value: kinds.filter((kind) => kind === what).length,
  }));
  return [{ what: 'files', value: sources.length }, { what: 'lines', value: kinds.length }, ...counted].map(
    (figure) => ({ of, ...figure }),
  );
}

type Kind = 'code' | 'comments' | 'imports' | 'blank';

/** What each line is. A comment behind code or within an import is no line of its own. */
function kindsOf({ text, parsed }: Source): readonly Kind[] {
  const { staticImports, staticExports } = parsed.module;
  const reexports = staticExports.filter(({ entries }) => entries.some(({ moduleRequest }) => moduleRequest !== null));
  const without = (spans: readonly Span[], from: string): readonly string[] => blanked(from, spans).split('\n');
  const uncommented = without(parsed.comments, text);
  const code = without([...parsed.comments, ...staticImports, ...reexports], text);
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.map((line, index) => {
    if (line.trim() === '') return 'blank';
    if (uncommented[index]?.trim() === '') return 'comments';
    return code[index]?.trim() === '' ? 'imports' : 'code';
  });
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The text with spaces in place of these parts, and as many lines. */
function blanked(text: string, spans: readonly Span[]): string {
  let [result, from] = ['', 0];
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    if (start < from) continue;
    result += text.slice(from, start) + text.slice(start, end).replaceAll(/[^\n]/g, ' ');
    from = end;
  }
  return result + text.slice(from);
}
