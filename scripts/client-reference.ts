import { readFile } from 'node:fs/promises';
import { parseSync } from 'rolldown/utils';

const sources = new URL('../packages/client/src/', import.meta.url);

/** docs/client-reference.md: every export of @dropcast/client with its documentation, in the order of its index. */
export async function clientReference(): Promise<string> {
  const entries = await publicEntries();
  const of = (kind: Entry['kind']): readonly string[] => entries.filter((entry) => entry.kind === kind).map(section);
  return [
    '# Reference of the client library',
    'Every export of `@dropcast/client`, made from its source by `npm run generate`. [The client library](client.md) explains how they are used.',
    '## Functions',
    ...of('function'),
    '## Types',
    ...of('type'),
    '## Errors',
    ...of('class'),
  ]
    .join('\n\n')
    .concat('\n');
}

interface Entry {
  readonly name: string;
  readonly kind: 'function' | 'type' | 'class';
  /** The text of its comment, without its frame. */
  readonly doc: string;
  /** What a reader needs of the declaration. */
  readonly code: string;
}

async function publicEntries(): Promise<readonly Entry[]> {
  const { program } = parseSync('index.ts', await sourceOf('./index.ts'));
  const entries: Entry[] = [];
  for (const statement of program.body) {
    if (statement.type !== 'ExportNamedDeclaration' || statement.source === null) continue;
    const text = await sourceOf(statement.source.value);
    const known = new Map(declarationsIn(text).map((entry) => [entry.name, entry]));
    for (const { local } of statement.specifiers) {
      const name = local.type === 'Identifier' ? local.name : '';
      const entry = known.get(name);
      if (entry === undefined) throw new Error(`${statement.source.value} does not declare ${name}`);
      if (!entries.some((other) => other.name === name)) entries.push(entry);
    }
  }
  return entries;
}

/** The sources alone say what a name is: one that is exported again from elsewhere has to be exported from there. */
function declarationsIn(text: string): readonly Entry[] {
  const { program, comments } = parseSync('source.ts', text);
  return program.body.flatMap((statement): Entry[] => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.declaration === null) return [];
    const { declaration } = statement;
    const doc = docBefore(statement.start, text, comments);
    const at = (node: { readonly start: number; readonly end: number }): string => text.slice(node.start, node.end);
    if (declaration.type === 'TSInterfaceDeclaration' || declaration.type === 'TSTypeAliasDeclaration')
      return [{ name: declaration.id.name, kind: 'type', doc, code: at(declaration) }];
    if (declaration.type === 'FunctionDeclaration' && declaration.body !== null)
      return [
        {
          name: declaration.id?.name ?? '',
          kind: 'function',
          doc,
          code: `${text.slice(declaration.start, declaration.body.start).trim()};`,
        },
      ];
    if (declaration.type !== 'ClassDeclaration') return [];
    const fields = declaration.body.body.flatMap((member): string[] => {
      if (member.type !== 'PropertyDefinition' || member.key.type !== 'Identifier' || member.key.name === 'name')
        return [];
      const end = member.value?.start ?? member.end;
      const field = text
        .slice(member.start, end)
        .replace(/\s*=\s*$/, ';')
        .replace('override ', '');
      const said = docBefore(member.start, text, comments);
      return [...(said === '' ? [] : [`  /** ${said.replaceAll('\n', ' ')} */`]), `  ${field}`];
    });
    const head = text.slice(declaration.start, declaration.body.start).trim();
    return [{ name: declaration.id?.name ?? '', kind: 'class', doc, code: [`${head} {`, ...fields, '}'].join('\n') }];
  });
}

type Comments = ReturnType<typeof parseSync>['comments'];

/** The `/** … *\/` comment that ends where a declaration starts; empty if there is none. */
function docBefore(start: number, text: string, comments: Comments): string {
  const last = comments.findLast(({ end }) => end <= start);
  if (last === undefined || !last.value.startsWith('*') || text.slice(last.end, start).trim() !== '') return '';
  return last.value.replaceAll(/^[^\S\n]*\* ?/gm, '').trim();
}

function section({ name, doc, code }: Entry): string {
  if (doc === '') throw new Error(`${name} is public and has no documentation`);
  const [, parent] = /^class \w+ extends (\w+) \{\n\}$/.exec(code) ?? [];
  const shown = parent === undefined ? `\`\`\`ts\n${code}\n\`\`\`` : `Extends \`${parent}\`.`;
  return [`### ${name}`, paragraphs(doc), shown].join('\n\n');
}

/** Tags of a comment become a list. */
function paragraphs(doc: string): string {
  const [text = '', ...tags] = doc.split(/^@/m);
  const items = tags.map((tag) => `- ${itemOf(tag.trim().replaceAll(/\s*\n\s*/g, ' '))}`);
  return [text.trim(), items.join('\n')].filter((part) => part !== '').join('\n\n');
}

function itemOf(tag: string): string {
  return tag
    .replace(/^param (\S+) /, '`$1`: ')
    .replace(/^returns /, 'returns ')
    .replace(/^throws \{([^}]*)\} /, (_, errors: string) => `throws \`${errors.replaceAll(' | ', '`, `')}\`: `);
}

async function sourceOf(path: string): Promise<string> {
  return await readFile(new URL(path, sources), 'utf8');
}
