import { randomBytes } from 'node:crypto';
import { appendFile, chmod, link, rename, truncate, utimes, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { World } from '../world/world.ts';

/** A file of a cell, and what people gave it. */
export interface Subject {
  readonly world: World;
  /** Name in the watched folder. */
  readonly name: string;
  readonly bytes: Buffer;
  readonly title: string;
}

interface Change {
  /** Before the file is dropped. */
  prepare?(subject: Subject): Promise<void>;
  apply(subject: Subject): Promise<void>;
  /** Its video has the title of the late sidecar in the end. */
  readonly isTitleSent?: boolean;
}

/** What people and programs do to a file that dropcast works on. Each tells the judge what it wants to have uploaded from then on. */
export const changes = {
  append: {
    apply: async ({ world, name, bytes }) => {
      const more = randomBytes(1_000);
      world.people.note(world.at(name), Buffer.concat([bytes, more]));
      await appendFile(world.at(name), more);
    },
  },
  truncate: {
    apply: async ({ world, name, bytes }) => {
      const size = Math.floor(bytes.length * 0.7);
      world.people.note(world.at(name), bytes.subarray(0, size));
      await truncate(world.at(name), size);
    },
  },
  overwrite: {
    apply: ({ world, name, bytes }) =>
      world.people.overwrite(world.at(name), randomBytes(bytes.length), { isTimeKept: false }),
  },
  'overwrite with its time set back': {
    apply: ({ world, name, bytes }) => world.people.overwrite(world.at(name), randomBytes(bytes.length)),
  },
  'replace by rename': {
    apply: ({ world, name }) => world.drop(name, randomBytes(3_000)),
  },
  touch: {
    apply: ({ world, name }) => utimes(world.at(name), new Date(), new Date()),
  },
  chmod: {
    apply: ({ world, name }) => chmod(world.at(name), 0o640),
  },
  rename: {
    apply: async ({ world, name, bytes, title }) => {
      const other = renamed(name);
      world.people.moved(world.at(name), world.at(other), bytes, [title, titleOf(other)]);
      await rename(world.at(name), world.at(other));
    },
  },
  'rename away and back': {
    apply: async ({ world, name }) => {
      await rename(world.at(name), world.scratch.file(name));
      await rename(world.scratch.file(name), world.at(name));
    },
  },
  'hard link': {
    apply: async ({ world, name, bytes, title }) => {
      const other = renamed(name);
      world.people.note(world.at(other), bytes, { titles: [title, titleOf(other)] });
      await link(world.at(name), world.at(other));
    },
  },
  unlink: {
    apply: ({ world, name }) => world.people.remove(world.at(name)),
  },
  'unlink, and the same bytes again': {
    apply: async ({ world, name, bytes }) => {
      await world.people.remove(world.at(name));
      await world.drop(name, bytes);
    },
  },
  'a sidecar appears': {
    apply: (subject) => writeSidecar(subject, 'late'),
    isTitleSent: true,
  },
  'a sidecar changes': {
    prepare: (subject) => writeSidecar(subject, 'early'),
    apply: (subject) => writeSidecar(subject, 'late'),
    isTitleSent: true,
  },
} satisfies Record<string, Change>;

export type ChangeName = keyof typeof changes;

export function changeOf(name: ChangeName): Change {
  return changes[name];
}

function renamed(name: string): string {
  return name.replace('.mpg', ' renamed.mpg');
}

function titleOf(name: string): string {
  return name.slice(0, -extname(name).length);
}

/** What a video may be called that has a sidecar. */
export function titlesOf(title: string): readonly string[] {
  return [title, `${title} early`, lateTitle(title)];
}

export function lateTitle(title: string): string {
  return `${title} late`;
}

/** At once, as a careful program does it: nobody reads half of it. */
async function writeSidecar({ world, name, title }: Subject, word: string): Promise<void> {
  const path = world.at(`${titleOf(name)}.yaml`);
  const hidden = world.scratch.file(`${title}.yaml`);
  await writeFile(hidden, `title: ${title} ${word}\n`);
  await rename(hidden, path);
}
