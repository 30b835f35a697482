import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { FolderConfig } from '../config/config.ts';
import { parseYaml } from '../config/document.ts';
import { isWithin } from '../config/paths.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { isImportLink, parseImportLink } from '../routing/import-link.ts';
import { compileFilter } from '../routing/match.ts';
import type { Route } from '../routing/plan.ts';
import { route } from '../routing/route.ts';
import type { RoutedFile } from '../routing/route.ts';
import { checkSidecar, isSidecarName, sidecarNames } from '../routing/sidecar.ts';
import type { Sidecar } from '../routing/sidecar.ts';
import { codeOf } from '@dropcast/client';
import { inDirectory, NotInFolderError } from '../disk/held-directory.ts';

/** Sidecars and links are a few lines; what is longer is something else. */
const mostBytes = 256 * 1024;

/** What the files beside a path say of it: nothing, something, or something broken that a person must mend. */
export type SidecarReading =
  | { readonly ok: true; readonly sidecar: Sidecar | null }
  | { readonly ok: false; readonly why: string };

/** Where the files of one folder go: its rules, with the sidecars and links read from disk. */
export interface FolderRouter {
  readonly folder: FolderConfig;
  accepts(path: string): 'media' | 'link' | 'sidecar' | null;
  sidecarOf(path: string): Promise<SidecarReading>;
  route(path: string, version: FileVersion): Promise<Route>;
  /** The address in a link file. */
  sourceUrl(
    path: string,
  ): Promise<{ readonly ok: true; readonly url: string } | { readonly ok: false; readonly why: string }>;
  /** The media files and links that a sidecar speaks of, as they are on disk. */
  mediaOf(sidecarPath: string): Promise<readonly string[]>;
}

export function createRouter(folder: FolderConfig): FolderRouter {
  const isIncluded = compileFilter(folder.include, folder.exclude);
  const isLeftIn = compileFilter(['**'], folder.exclude);
  const accepts = (path: string): 'media' | 'link' | 'sidecar' | null => {
    if (isIncluded(path)) return 'media';
    if (!isLeftIn(path)) return null;
    if (isImportLink(path)) return 'link';
    return isSidecarName(path) ? 'sidecar' : null;
  };

  const sidecarOf = async (path: string): Promise<SidecarReading> => {
    // A folder whose videos are JSON files would be strange, but they are then videos.
    const names = sidecarNames(path).filter((name) => accepts(name) === 'sidecar');
    const found: { name: string; text: string }[] = [];
    for (const { name, text } of await readBeside(folder.path, names)) {
      if (typeof text === 'string') found.push({ name, text });
      else if (text !== null) return { ok: false, why: `sidecar "${name}": ${text.why}` };
    }
    const [first, second] = found;
    if (first === undefined) return { ok: true, sidecar: null };
    if (second !== undefined) return { ok: false, why: `two sidecars, "${first.name}" and "${second.name}": keep one` };
    const parsed = parseYaml(first.text);
    if (!parsed.ok) {
      return {
        ok: false,
        why: `sidecar "${first.name}", line ${parsed.line}, column ${parsed.column}: ${parsed.message}`,
      };
    }
    return checkSidecar(first.name, parsed.value);
  };

  return {
    folder,
    accepts,
    sidecarOf,
    route: async (path, version) => {
      const reading = await sidecarOf(path);
      return reading.ok
        ? route(folder.rules, routedFile(path, version), reading.sidecar)
        : { kind: 'held', why: reading.why };
    },
    sourceUrl: async (path) => {
      const [link] = await readBeside(folder.path, [path]);
      if (typeof link?.text === 'string') return parseImportLink(path, link.text);
      return { ok: false, why: link?.text?.why ?? 'the link file is no longer there' };
    },
    mediaOf: async (sidecarPath) => {
      const directory = posix.dirname(sidecarPath);
      const names = await readdir(join(folder.path, directory)).catch(() => []);
      return names
        .map((name) => posix.join(directory, name))
        .filter((path) => accepts(path) === 'media' || accepts(path) === 'link')
        .filter((path) => sidecarNames(path).includes(sidecarPath));
    },
  };
}

/** The folder that a path is in; of nested ones the most specific. */
export function folderOf(folders: readonly FolderConfig[], absolutePath: string): FolderConfig | null {
  const around = folders.filter(({ path }) => path !== absolutePath && isWithin(absolutePath, path));
  return around.toSorted((one, other) => other.path.length - one.path.length)[0] ?? null;
}

export function routedFile(path: string, version: FileVersion): RoutedFile {
  return { path, modifiedMs: Number(BigInt(version.mtimeNs) / 1_000_000n) };
}

type SmallText = string | null | { readonly why: string };

interface SmallFile {
  readonly name: string;
  readonly text: SmallText;
}

/** Small files of one directory of a folder, as `readSmall` gives them. */
async function readBeside(folder: string, paths: readonly string[]): Promise<readonly SmallFile[]> {
  const [first] = paths;
  if (first === undefined) return [];
  const names = paths.map((path) => posix.basename(path));
  try {
    return await inDirectory({ folder, directory: posix.dirname(first) }, async (held) =>
      Promise.all(names.map(async (name) => ({ name, text: await readSmall(held.at(name)) }))),
    );
  } catch (error) {
    // A directory that is away, or is a link now, holds nothing that may speak for a file.
    const text = error instanceof NotInFolderError ? null : unread(error);
    return names.map((name) => ({ name, text }));
  }
}

/** The text of a small regular file; null when there is none. Never blocks on a FIFO, never follows a link. */
async function readSmall(path: string): Promise<SmallText> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return unread(error);
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return { why: 'is not a regular file' };
    if (stats.size > mostBytes) return { why: `is larger than ${mostBytes / 1024} KiB` };
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
  } catch (error) {
    return { why: error instanceof TypeError ? 'is not UTF-8 text' : 'cannot be read' };
  } finally {
    await file.close();
  }
}

function unread(error: unknown): SmallText {
  const code = codeOf(error);
  // A video may have the longest name there is; no sidecar of a longer one can exist.
  const isAway = code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG';
  return isAway ? null : { why: `cannot be read (${String(code)})` };
}
