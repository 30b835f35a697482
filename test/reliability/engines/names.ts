import type { Rows } from './tables.ts';

/** What stands for what is drawn by lot, or is a moment. */
export interface Names {
  /** By id. */
  readonly files: ReadonlyMap<string, string>;
  readonly videos: ReadonlyMap<string, string>;
}

/** @param titles first titles of videos, by id, in the order in which they were made */
export function namesOf(files: Rows, titles: ReadonlyMap<string, string>): Names {
  const paths = files.map(({ id, folder, path }): [string, string] => [
    id ?? '',
    `${withoutHost(folder ?? '')}/${path}`,
  ]);
  return { files: numbered('file', paths), videos: numbered('video', [...titles]) };
}

/** The text with names in it. */
export function named(text: string, { files, videos }: Names): string {
  return withoutHost(text)
    .replaceAll(/f_[0-9a-f]{12}/g, (id) => files.get(id) ?? '«file that is gone»')
    .replaceAll(/vid_\d+/g, (id) => videos.get(id) ?? id)
    .replaceAll(/(?<=sig=)\d+/g, 'n')
    .replaceAll(/(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g, 'token')
    .replaceAll(/2026-03-01T[\d:.]+Z/g, 'moment')
    .replaceAll(/(?<=again at )\d\d:\d\d/g, 'moment')
    .replaceAll(moment, 'moment');
}

/** What a line is about: the first name in it. */
export function ownerOf(line: string): string {
  return /«[^»]*»/.exec(line)?.[0] ?? '';
}

/** Of the clock of the machine, in milliseconds or nanoseconds. Files have times of their own, which are older. */
const moment = /\b17723[6-9]\d{7}(?:\d{6})?\b/g;

function withoutHost(text: string): string {
  return text.replaceAll('simulated:/', '/');
}

/** Several of one name are told apart by their order. */
function numbered(kind: string, all: readonly (readonly [id: string, name: string])[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  return new Map(
    all.map(([id, name]) => {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return [id, `«${kind} ${name} (${count})»`];
    }),
  );
}
