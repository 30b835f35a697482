import { mediaExtensionOf } from '../config/media-extensions.ts';

/** Files that the folder's `include` patterns did not select in its last scan. */
export interface LeftOut {
  readonly files: number;
  /** Number of files that look like video or audio and do not match `exclude`; `include` may lack a pattern. */
  readonly media: number;
  /** Extensions of the media files, such as `.mts`, most frequent first; at most 20. */
  readonly extensions: readonly string[];
  /** Paths of the first files relative to the folder, media first; at most 1,000. */
  readonly paths: readonly string[];
}

/** Collects the files that a scan leaves out, using bounded memory. */
export class LeftOutFiles {
  readonly #isExcluded: (path: string) => boolean;
  readonly #extensions = new Map<string, number>();
  readonly #media: string[] = [];
  readonly #others: string[] = [];
  #files = 0;
  #mediaFiles = 0;

  constructor(isExcluded: (path: string) => boolean) {
    this.#isExcluded = isExcluded;
  }

  add(path: string): void {
    this.#files += 1;
    const extension = mediaExtensionOf(path);
    const isMedia = extension !== null && !this.#isExcluded(path);
    const paths = isMedia ? this.#media : this.#others;
    if (paths.length < MOST_PATHS) paths.push(path);
    if (!isMedia) return;
    this.#mediaFiles += 1;
    this.#extensions.set(extension, (this.#extensions.get(extension) ?? 0) + 1);
  }

  summary(): LeftOut {
    const extensions = [...this.#extensions].toSorted(([, one], [, other]) => other - one).slice(0, MOST_EXTENSIONS);
    return {
      files: this.#files,
      media: this.#mediaFiles,
      extensions: extensions.map(([extension]) => extension),
      paths: [...this.#media, ...this.#others].slice(0, MOST_PATHS),
    };
  }
}

const MOST_PATHS = 1_000;
const MOST_EXTENSIONS = 20;

/** Formats `43 left out; 21 look like video: .wmv, .mts`. Empty if no files were left out. */
export function leftOutWords({ files, media, extensions }: Omit<LeftOut, 'paths'>): string {
  if (files === 0) return '';
  if (media === 0) return `${files} left out`;
  return `${files} left out; ${media} look${media === 1 ? 's' : ''} like video: ${extensions.join(', ')}`;
}
