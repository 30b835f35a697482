import { posix } from 'node:path';
import type { FolderConfig } from '../config/config.ts';
import { parseYaml } from '../config/document.ts';
import { isWithin } from '../config/paths.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { checksumFileKind, isChecksumOf } from '../routing/checksum-file.ts';
import { createDoneMarker } from '../routing/done-marker.ts';
import type { DoneMarker } from '../routing/done-marker.ts';
import { composed, folded, spellings } from '../routing/file-name.ts';
import { isImportLink, parseImportLink } from '../routing/import-link.ts';
import type { ImportLink } from '../routing/import-link.ts';
import { compileFilter } from '../routing/match.ts';
import { moveTarget } from '../routing/move-target.ts';
import type { Route, SidecarFile } from '../routing/plan.ts';
import { route } from '../routing/route.ts';
import type { RoutedFile } from '../routing/route.ts';
import { ListedNames } from '../disk/listed-names.ts';
import { checkSidecar, isSidecarName, isSidecarOf, sidecarNames, stemOf, stemSpellings } from '../routing/sidecar.ts';
import type { Sidecar } from '../routing/sidecar.ts';
import type { FileKind } from '../watch/ports.ts';
import { readBeside } from './beside.ts';

/** What the sidecar of a path says: nothing, something, or something broken that a person must fix. */
export type SidecarReading =
  | { readonly ok: true; readonly sidecar: Sidecar | null; readonly file?: SidecarFile }
  | { readonly ok: false; readonly why: string };

/** Where the files of one folder go: its rules, with the sidecars and links read from disk. Paths are relative to the folder. */
export interface FolderRouter {
  readonly folder: FolderConfig;
  /** What a path is to us; null: nothing. */
  accepts(path: string): FileKind | null;
  /** Whether `exclude` takes a path out. */
  isExcluded(path: string): boolean;
  /** The path of the file that says that this one is complete; null: none is waited for. */
  markerOf(path: string): string | null;
  /** Whether a directory holds nothing but what was put away there. */
  leavesOut(directory: string): boolean;
  /** The template by which a file may have been moved to where it is; null when none could. */
  movedBy(path: string): string | null;
  sidecarOf(path: string): Promise<SidecarReading>;
  route(path: string, version: FileVersion): Promise<Route>;
  /** The address in a link file. */
  sourceUrl(path: string): Promise<ImportLink>;
  /** Whether a path is that of a video or link, and the other that of its sidecar or marker. */
  isSidecarOf(path: string, sidecarPath: string): boolean;
  /** The beginnings, up to a dot or the end, of the paths of videos that may have this sidecar or marker. */
  stemsOf(sidecarPath: string): readonly string[];
  /** A sidecar has just appeared: the next look at its video finds it. */
  appeared(sidecarPath: string): Promise<void>;
}

/** @param earlier templates of `after_ready: move` that files of the folder were moved by */
export function createRouter(folder: FolderConfig, earlier: readonly string[] = []): FolderRouter {
  const { afterReady } = folder;
  const targets = [...(afterReady.kind === 'move' ? [afterReady.to] : []), ...earlier].flatMap((template) => {
    const target = moveTarget(template);
    return target === null ? [] : [{ ...target, template }];
  });
  const movedBy = (path: string): string | null => targets.find(({ holdsFile }) => holdsFile(path))?.template ?? null;
  const marker = folder.doneMarker === null ? null : createDoneMarker(folder.doneMarker);
  const isSelected = createFilter(folder, marker);
  const accepts: FolderRouter['accepts'] = (path) => (movedBy(path) === null ? isSelected(path) : null);
  const names = new ListedNames((name) => (isSidecarName(name) ? folded(stemOf(name)) : null), listedForMs);
  const listedSidecars = async (path: string): Promise<readonly string[]> => {
    const { dir, base, name } = posix.parse(path);
    // Where the directory cannot be listed, the usual names can still be asked for.
    const listed = await names.of(folder.path, dir, [folded(name), folded(base)]).catch(() => []);
    const sidecars = listed.map((other) => posix.join(dir, other)).filter((other) => isSidecarOf(path, other));
    return sidecars.toSorted().slice(0, mostSidecars);
  };
  const sidecarOf = async (path: string): Promise<SidecarReading> => {
    // A folder whose videos are named `.json` would be strange, but then they are videos.
    const names = [...(await listedSidecars(path)), ...sidecarNames(path)].filter(
      (name) => accepts(name) === 'sidecar',
    );
    return readSidecar(folder.path, [...new Set(names)]);
  };
  const markerOf: FolderRouter['markerOf'] = (path) =>
    marker === null || accepts(path) !== 'media' ? null : marker.markerOf(path);
  const markersOf = async (path: string): Promise<SidecarFile[]> => {
    const markerPath = markerOf(path);
    const read =
      markerPath === null
        ? []
        : await readBeside(
            folder.path,
            spellings(posix.basename(markerPath)).map((name) => posix.join(posix.dirname(markerPath), name)),
          );
    return read.flatMap(({ name, sha256 }) =>
      sha256 === null ? [] : [{ path: posix.join(posix.dirname(path), name), sha256 }],
    );
  };
  return {
    folder,
    accepts,
    isExcluded: compileFilter(folder.exclude, []),
    markerOf,
    movedBy,
    leavesOut: (directory) => targets.some(({ holdsDirectory }) => holdsDirectory(directory)),
    sidecarOf,
    route: async (path, version) => {
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
    sourceUrl: async (path) => {
      const [link] = await readBeside(folder.path, [path]);
      if (typeof link?.text === 'string') return parseImportLink(path, link.text);
      return { ok: false, why: link?.text?.why ?? 'the link file is no longer there' };
    },
    stemsOf: (path) => {
      if (marker?.isMarker(path) === true) return stemSpellings(marker.stemOf(path));
      return stemSpellings(
        isSidecarName(path) ? stemOf(path) : posix.join(posix.dirname(path), posix.parse(path).name),
      );
    },
    appeared: (path) => names.add(folder.path, posix.dirname(path), posix.basename(path)),
    isSidecarOf: (path, sidecarPath) => {
      const kind = accepts(path);
      const isVideo = kind === 'media' || kind === 'link';
      const markerPath = markerOf(path);
      const isMarker = markerPath !== null && composed(markerPath) === composed(sidecarPath);
      const isIts = isMarker || isSidecarOf(path, sidecarPath);
      const isInPlace = posix.dirname(path) === posix.dirname(sidecarPath);
      return isVideo && (isIts || (isInPlace && isChecksumOf(posix.basename(sidecarPath), posix.basename(path))));
    },
  };
}

/** Two hold their video. There may be a million spellings of one name, and each takes 256 KiB while it is read. */
const mostSidecars = 8;

/** A sidecar that comes in the meantime is reported by `appeared`, and its usual names are asked for each time. */
const listedForMs = 2000;

function createFilter({ include, exclude }: FolderConfig, marker: DoneMarker | null): FolderRouter['accepts'] {
  const isIncluded = compileFilter(include, exclude);
  const isNotExcluded = compileFilter(['**'], exclude);
  return (path) => {
    if (marker?.isMarker(path) === true || checksumFileKind(posix.basename(path)) !== null) return 'proof';
    if (isIncluded(path)) return 'media';
    if (!isNotExcluded(path)) return null;
    if (isImportLink(path)) return 'link';
    return isSidecarName(path) ? 'sidecar' : null;
  };
}

async function readSidecar(folder: string, names: readonly string[]): Promise<SidecarReading> {
  const found: { name: string; text: string; sha256: string; id: string | null }[] = [];
  for (const { name, text, sha256, id } of await readBeside(folder, names)) {
    // A file system without case finds one file under several names.
    if (found.some((other) => other.id === id)) continue;
    if (typeof text === 'string') found.push({ name, text, sha256: sha256 ?? '', id });
    else if (text !== null) return { ok: false, why: `sidecar "${name}": ${text.why}` };
  }
  // The order of a directory is arbitrary; the reason is the same each time.
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

/** The folder that a path is in; of nested ones the innermost. */
export function folderOf(folders: readonly FolderConfig[], absolutePath: string): FolderConfig | null {
  const around = folders.filter(({ path }) => path !== absolutePath && isWithin(absolutePath, path));
  return around.toSorted((one, other) => other.path.length - one.path.length)[0] ?? null;
}

/** A file as the rules see it. */
export function routedFile(path: string, version: FileVersion): RoutedFile {
  return { path, modifiedMs: Number(BigInt(version.mtimeNs) / 1_000_000n) };
}
