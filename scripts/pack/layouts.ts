/** What of the repository goes into one package, beside the built files, LICENSE and its or the common CHANGELOG.md. */
export interface Layout {
  /** Below build/pack; tsconfig.build.json of the package writes to dist/ in it. */
  readonly name: string;
  /** Folder of the package, from the root of the repository. */
  readonly home: string;
  /** Patterns of files and folders, from there; a folder is copied whole. */
  readonly files: readonly string[];
  /** Where else than at its own path in the package the files of a pattern go. */
  readonly moved?: { readonly pattern: string; readonly to: string };
  /** Pages of docs/ that go to docs/ of the package. */
  readonly pages?: readonly string[];
  /** Null for a package that is never published on its own, but bundled into those that depend on it. */
  readonly readme: { readonly from: string; edit(text: string): string } | null;
}

export const layouts: readonly Layout[] = [
  {
    name: 'client',
    home: 'packages/client',
    // The maps of the built files lead to the sources.
    files: ['browser.cjs', 'src'],
    pages: ['client.md', 'client-reference.md', 'api-spec.md'],
    readme: { from: 'packages/client/README.md', edit: (text) => text.replaceAll('](../../docs/', '](docs/') },
  },
  { name: 'media', home: 'packages/media', files: [], readme: null },
  { name: 'pages', home: 'packages/pages', files: [], readme: null },
  { name: 'notify', home: 'packages/notify', files: [], readme: null },
  {
    name: 'sandbox',
    home: 'packages/sandbox',
    files: ['bin', 'openapi.yaml'],
    moved: { pattern: '../../docs/sandbox*.md', to: 'docs' },
    readme: { from: 'packages/sandbox/README.md', edit: (text) => text },
  },
  {
    name: 'recorder',
    home: 'packages/recorder',
    files: [],
    pages: ['record.md'],
    readme: { from: 'packages/recorder/README.md', edit: (text) => text.replaceAll('](../../docs/', '](docs/') },
  },
  {
    name: 'dropcast',
    home: '.',
    files: ['bin', 'docs', 'systemd', 'config.example.yaml', 'config.schema.json'],
    // What `dropcast demo` drops (src/package-files.ts).
    moved: { pattern: 'test/media/*.m*', to: 'samples' },
    readme: { from: 'README.md', edit: (text) => text },
  },
];

/**
 * Links to other pages of the repository, and pictures, would lead nowhere. Code like `client[key](id)` only looks like
 * one.
 *
 * @param pages that the package has in the same folder
 */
export function withoutLinks(text: string, pages: readonly string[] = []): string {
  return text
    .replaceAll(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n+/gm, '')
    .replaceAll(
      /^```[^]*?^```$|`[^`\n]*`|\[([^\]]*)\]\((?!https:|#)([^)#]*)[^)]*\)/gm,
      (found, label: string | undefined, page: string) => (label === undefined || pages.includes(page) ? found : label),
    );
}
