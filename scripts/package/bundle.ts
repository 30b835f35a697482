import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import type { OutputChunk } from 'rolldown';

/** The program with all libraries in it, as files of one flat folder. */
export interface Bundle {
  readonly chunks: readonly { readonly name: string; readonly code: string }[];
  /** Directories of the libraries whose code is in it, from the root of the repository, sorted. */
  readonly libraries: readonly string[];
}

/**
 * One ES module for each command and for what several of them share: they are loaded when a command runs, as in the
 * sources. Names stay readable for whoever reads a stack trace; the same sources give the same bytes, wherever they
 * lie.
 *
 * @param root of the repository, with its node_modules
 * @throws when something that is imported cannot be found
 */
export async function bundleProgram(root: string): Promise<Bundle> {
  const build = await rolldown({
    cwd: root,
    // Threads are started by their file names, beside the file that starts them, so each is an entry of its own.
    input: {
      main: 'src/main.ts',
      'hash-thread': 'packages/client/src/upload/hash-thread.ts',
      'media-info-thread': 'packages/sandbox/src/media/media-info-thread.ts',
    },
    platform: 'node',
    // As Node itself chooses. Bundlers would choose `module` too, and take the build of MediaInfo that fetches its parser. `import` and
    // `require` are added for each place: with `import` everywhere, pg requires the module that wraps its own pool, and does not start.
    // Libraries are named by where they are seen, not by where a link leads to: the bundle tells these names in comments.
    resolve: { conditionNames: ['node'], symlinks: false },
    onLog: (_level, log) => {
      throw new Error(log.message); // whatever is odd has to be looked at
    },
  });
  try {
    const { output } = await build.generate({
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      comments: false, // the licences are in /usr/share/doc/dropcast/copyright, whole
    });
    const chunks = output.filter((part): part is OutputChunk => part.type === 'chunk');
    return {
      chunks: chunks.map(({ fileName, code }) => ({ name: fileName, code })),
      libraries: librariesOf(chunks.flatMap(({ moduleIds }) => moduleIds)),
    };
  } finally {
    await build.close();
  }
}

/** The parser of the sandbox; MediaInfo looks for it one folder above the script that loads it. */
export function mediaParser(root: string): Promise<Uint8Array> {
  return readFile(join(root, 'node_modules/mediainfo.js/dist/MediaInfoModule.wasm'));
}

function librariesOf(modules: readonly string[]): readonly string[] {
  const found = modules.flatMap((id) => /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(id) ?? []);
  return [...new Set(found)].filter((path) => !/@dropcast\/[^/]+$/.test(path)).toSorted();
}
