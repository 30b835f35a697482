import { createHash } from 'node:crypto';
import { constants, lstat } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { FolderConfig } from '../config/config.ts';
import { parseYaml } from '../config/document.ts';
import { isWithin } from '../config/paths.ts';
import { NotInFolderError, inDirectory } from '../disk/held-directory.ts';
import { ListedNames } from '../disk/listed-names.ts';
import { errnoOf } from '../errno.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { IntakeStore } from '../pipeline/file/ports.ts';
import { isRefusal, whyClosed } from '../read-permission.ts';
import { checksumFileKind, isChecksumOf } from '../routing/checksum-file.ts';
import { createDoneMarker } from '../routing/done-marker.ts';
import type { DoneMarker } from '../routing/done-marker.ts';
import { composed, folded, spellings } from '../routing/text.ts';
import { isImportLink, parseImportLink } from '../routing/import-link.ts';
import type { ImportLink } from '../routing/import-link.ts';
import { compileFilter } from '../routing/match.ts';
import { moveTarget } from '../routing/move-target.ts';
import type { Route, SidecarFile } from '../routing/plan.ts';
import { route } from '../routing/route.ts';
import type { RoutedFile } from '../routing/route.ts';
import { checkSidecar, isSidecarName, isSidecarOf, sidecarNames, stemOf, stemSpellings } from '../routing/sidecar.ts';
import type { Sidecar } from '../routing/sidecar.ts';
import { isTakenIn } from '../watch/ports.ts';
import type { FileKind, WatchSettings } from '../watch/ports.ts';

/** A path's sidecar: none, its metadata, or an error that a person must fix. */
type SidecarReading =
  | { readonly ok: true; readonly sidecar: Sidecar | null; readonly file?: SidecarFile }
  | { readonly ok: false; readonly why: string };

/** Routes the files of one folder by its rules and sidecars. Paths are relative to the folder. */
export type FolderRouter = ReturnType<typeof createRouter>;

/** @param earlier templates of `after_ready: move` with which files in the folder were moved before */
export function createRouter(folder: FolderConfig, earlier: readonly string[] = []) {
  const { path, settleMs, rescanMs, watch, afterReady } = folder;
  const targets = [...(afterReady.kind === 'move' ? [afterReady.to] : []), ...earlier].flatMap((template) => {
    const target = moveTarget(template);
    return target === null ? [] : [{ ...target, template }];
  });
  /** Returns the template that may have moved a file to its path; null if none could. */
  const movedBy = (path: string): string | null => targets.find(({ holdsFile }) => holdsFile(path))?.template ?? null;
  const leavesOut = (directory: string): boolean => targets.some(({ holdsDirectory }) => holdsDirectory(directory));
  const marker = folder.doneMarker === null ? null : createDoneMarker(folder.doneMarker);
  const isSelected = createFilter(folder, marker);
  const isExcluded = compileFilter(folder.exclude, []);
  /** Returns the kind of a path; null if it is not ours. */
  const accepts = (path: string): FileKind | null => (movedBy(path) === null ? isSelected(path) : null);
  const markerOf = (path: string): string | null =>
    marker === null || accepts(path) !== 'media' ? null : marker.markerOf(path);
  const names = new ListedNames((name) => (isSidecarName(name) ? folded(stemOf(name)) : null), listedForMs);
  const listedSidecars = async (path: string): Promise<readonly string[]> => {
    const { dir, base, name } = posix.parse(path);
    // If the directory cannot be listed, only the usual names are tried.
    const listed = await names.of(folder.path, dir, [folded(name), folded(base)]).catch(() => []);
    const sidecars = listed.map((other) => posix.join(dir, other)).filter((other) => isSidecarOf(path, other));
    return sidecars.toSorted().slice(0, mostSidecars);
  };
  const sidecarOf = async (path: string): Promise<SidecarReading> => {
    // A `.json` file that `include` selects is a video, not a sidecar.
    const names = [...(await listedSidecars(path)), ...sidecarNames(path)].filter(
      (name) => accepts(name) === 'sidecar',
    );
    return readSidecar(folder.path, [...new Set(names)]);
  };
  const markersOf = async (path: string): Promise<SidecarFile[]> => {
    const markerPath = markerOf(path);
    if (markerPath === null) return [];
    const directory = posix.dirname(markerPath);
    const paths = spellings(posix.basename(markerPath)).map((name) => posix.join(directory, name));
    const read = await readSmallFiles(folder.path, paths);
    return read.flatMap((file) =>
      'why' in file ? [] : [{ path: posix.join(directory, file.name), sha256: file.sha256 }],
    );
  };
  return {
    folder,
    accepts,
    markerOf,
    movedBy,
    leavesOut,
    sidecarOf,
    /** @param nested absolute paths of watched folders inside this one */
    watchSettings: (nested: readonly string[]): WatchSettings => {
      const isOnlyRead = afterReady.kind === 'keep';
      return { path, settleMs, rescanMs, watch, nested, isOnlyRead, accepts, isExcluded, leavesOut, markerOf };
    },
    route: async (path: string, version: FileVersion): Promise<Route> => {
      const reading = await sidecarOf(path);
      if (!reading.ok) return { kind: 'held', code: 'sidecar', why: reading.why };
      const routed = route(folder.rules, routedFile(path, version), reading.sidecar);
      if (routed.kind === 'held') return routed;
      const proofs = await markersOf(path);
      const sidecar = reading.file;
      return {
        ...routed,
        ...(reading.sidecar !== null && { said: reading.sidecar }),
        plan: { ...routed.plan, ...(sidecar !== undefined && { sidecar }), ...(proofs.length > 0 && { proofs }) },
      };
    },
    sourceUrl: async (path: string): Promise<ImportLink> => {
      const [link] = await readSmallFiles(folder.path, [path]);
      if (link === undefined) return { ok: false, why: 'the link file is no longer there' };
      return 'why' in link ? { ok: false, why: link.why } : parseImportLink(path, link.text);
    },
    /** Returns path prefixes (up to a dot or the end) of videos that this sidecar or proof may belong to. */
    stemsOf: (path: string): readonly string[] => {
      if (marker?.isMarker(path) === true) return stemSpellings(marker.stemOf(path));
      return stemSpellings(
        isSidecarName(path) ? stemOf(path) : posix.join(posix.dirname(path), posix.parse(path).name),
      );
    },
    /** Notes a sidecar that has just appeared, so that the next routing of its video finds it. */
    appeared: (path: string): Promise<void> => names.add(folder.path, posix.dirname(path), posix.basename(path)),
    /** Whether the first path is a video or link and the second its sidecar or proof. */
    isSidecarOf: (path: string, sidecarPath: string): boolean => {
      if (!isTakenIn(accepts(path))) return false;
      const markerPath = markerOf(path);
      if (markerPath !== null && composed(markerPath) === composed(sidecarPath)) return true;
      const isInPlace = posix.dirname(path) === posix.dirname(sidecarPath);
      const isChecksum = isInPlace && isChecksumOf(posix.basename(sidecarPath), posix.basename(path));
      return isChecksum || isSidecarOf(path, sidecarPath);
    },
  };
}

/**
 * Finds the known videos and links that this sidecar or proof belongs to. Asks the ledger, because listing the
 * directory for each of thousands of sidecars would take minutes. An unknown file is not needed: its sidecar is read on
 * intake.
 */
export async function videosNamedLike(
  sidecarPath: string,
  router: FolderRouter,
  ledger: Pick<IntakeStore, 'pathsNamed'>,
): Promise<readonly string[]> {
  const stems = router.stemsOf(sidecarPath);
  const paths = await Promise.all(stems.map((stem) => ledger.pathsNamed(router.folder.path, stem)));
  return [...new Set(paths.flat())].filter((path) => router.isSidecarOf(path, sidecarPath));
}

/**
 * Maximum number of sidecars read per video; two already put it on hold. One name may have a million spellings, and
 * each file takes 256 KiB while it is read.
 */
const mostSidecars = 8;

/** Lifetime of a directory listing. `appeared` adds later sidecars, and the usual names are always tried. */
const listedForMs = 2000;

function createFilter({ include, exclude }: FolderConfig, marker: DoneMarker | null) {
  const isIncluded = compileFilter(include, exclude);
  const isNotExcluded = compileFilter(['**'], exclude);
  return (path: string): FileKind | null => {
    if (marker?.isMarker(path) === true || checksumFileKind(posix.basename(path)) !== null) return 'proof';
    if (isIncluded(path)) return 'media';
    if (!isNotExcluded(path)) return null;
    if (isImportLink(path)) return 'link';
    return isSidecarName(path) ? 'sidecar' : null;
  };
}

async function readSidecar(folder: string, names: readonly string[]): Promise<SidecarReading> {
  const found: Exclude<SmallFile, { readonly why: string }>[] = [];
  for (const file of await readSmallFiles(folder, names)) {
    if ('why' in file) return { ok: false, why: `sidecar "${file.name}": ${file.why}` };
    // On a case-insensitive file system, one file is found under several names.
    if (!found.some(({ id }) => id === file.id)) found.push(file);
  }
  // Sorted for a stable message, because directory order is arbitrary.
  const [first, second] = found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  if (first === undefined) return { ok: true, sidecar: null };
  if (second !== undefined) return { ok: false, why: `two sidecars, "${first.name}" and "${second.name}": keep one` };
  const parsed = parseYaml(first.text);
  if (parsed.ok) {
    const path = posix.join(posix.dirname(names[0] ?? ''), first.name);
    const checked = checkSidecar(first.name, parsed.value);
    return checked.ok ? { ...checked, file: { path, sha256: first.sha256 } } : checked;
  }
  const { line, column, message } = parsed;
  return { ok: false, why: `sidecar "${first.name}", line ${line}, column ${column}: ${message}` };
}

/** Returns the folder that a path is in; the innermost if folders are nested. */
export function folderOf(folders: readonly FolderConfig[], absolutePath: string): FolderConfig | null {
  const around = folders.filter(({ path }) => path !== absolutePath && isWithin(absolutePath, path));
  return around.toSorted((one, other) => other.path.length - one.path.length)[0] ?? null;
}

/** Describes a file in the form that rules use. */
export function routedFile(path: string, version: FileVersion): RoutedFile {
  return { path, modifiedMs: Number(BigInt(version.mtimeNs) / 1_000_000n) };
}

/** A sidecar or link file that exists, or why it is unusable. */
type SmallFile = { readonly name: string } & (
  | {
      readonly text: string;
      /** SHA-256 of the bytes that were read, hex. */
      readonly sha256: string;
      /** Device and inode. */
      readonly id: string;
    }
  | { readonly why: string }
);

/**
 * Reads small files from one directory of a watched folder. Never follows a link, never blocks on a FIFO, never reads
 * outside the folder.
 *
 * @param folder absolute path of the watched folder
 * @param paths relative to the folder, all in the same directory
 * @returns the files that exist, in the order of `paths`
 */
async function readSmallFiles(folder: string, paths: readonly string[]): Promise<readonly SmallFile[]> {
  const [first] = paths;
  // Checked first: most files have no sidecar, and opening each directory on the path costs two system calls.
  if (first === undefined || !(await mayOneBeThere(paths.map((path) => join(folder, path))))) return [];
  const names = paths.map((path) => posix.basename(path));
  try {
    const files = await inDirectory({ folder, directory: posix.dirname(first) }, (held) =>
      Promise.all(names.map((name) => readSmall(held.at(name), name))),
    );
    return files.flatMap((file) => file ?? []);
  } catch (error) {
    // A directory that is missing or has become a link contains no valid sidecar.
    const why = error instanceof NotInFolderError ? null : whyUnread(error);
    return why === null ? [] : names.map((name) => ({ name, why }));
  }
}

/** Returns false if no path exists. A promise and an error stack trace per path would double the time. */
function mayOneBeThere(paths: readonly string[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let unanswered = paths.length;
  for (const path of paths)
    lstat(path, (error) => {
      unanswered -= 1;
      if (error === null || whyUnread(error) !== null) resolve(true);
      else if (unanswered === 0) resolve(false);
    });
  return promise;
}

/** Size limit for sidecars and links, which normally have a few lines. */
const mostBytes = 256 * 1024;

/** @returns null if there is no such file */
async function readSmall(path: string, name: string): Promise<SmallFile | null> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errnoOf(error);
    const why = isRefusal(code) ? `cannot be read: ${await whyClosed(path, 'file', code)}` : whyUnread(error);
    return why === null ? null : { name, why };
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return { name, why: 'is not a regular file' };
    const bytes = stats.size > mostBytes ? null : await readAtMost(mostBytes, file);
    if (bytes === null) return { name, why: `is larger than ${mostBytes / 1024} KiB` };
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { name, text, sha256: createHash('sha256').update(bytes).digest('hex'), id: `${stats.dev}:${stats.ino}` };
  } catch (error) {
    return { name, why: error instanceof TypeError ? 'is not UTF-8 text' : 'cannot be read' };
  } finally {
    await file.close();
  }
}

/**
 * Reads a whole file; null if it exceeds `most` bytes. Counts bytes, because the file may grow and a file system may
 * report any size.
 */
async function readAtMost(most: number, file: FileHandle): Promise<Buffer | null> {
  const buffer = Buffer.allocUnsafe(most + 1);
  for (let length = 0; length <= most;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
  return null;
}

/** @returns null if the file is missing */
function whyUnread(error: unknown): string | null {
  const code = errnoOf(error);
  // If a video's name has the maximum length, the name of its sidecar is too long to exist.
  const isMissing = code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG';
  return isMissing ? null : `cannot be read (${code})`;
}
