import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { FolderRouter } from '../../intake/folder-router.ts';
import { createLoneSidecars } from '../../intake/folder-status.ts';
import { explainRoute, likelyCause } from '../../routing/explain.ts';
import { compileFilter } from '../../routing/match.ts';
import { leftAloneName } from '../../watch/left-alone-names.ts';

export type RuleReport = Awaited<ReturnType<typeof ruleReport>>;

/**
 * Says what a folder's rules do with a path in it. The file need not exist.
 *
 * @param path relative to the folder
 * @param modifiedMs the file's modification time in epoch milliseconds: titles may contain the day
 */
export async function ruleReport(router: FolderRouter, path: string, modifiedMs: number) {
  const [reading, loneSidecars] = await Promise.all([
    router.sidecarOf(path),
    loneSidecarsIn(posix.dirname(path), router),
  ]);
  return {
    /** Why dropcast ignores the path; null: it does not. */
    leftAlone: whyIgnored(router, path, loneSidecars),
    /** Names in the path's directory that look like sidecars but belong to no video. */
    loneSidecars,
    /** A summary of the path's sidecar, in words. */
    sidecar: reading.ok
      ? reading.sidecar === null
        ? 'none'
        : `sets ${Object.keys(reading.sidecar).join(', ')}`
      : `broken: ${reading.why}`,
    explanation: explainRoute(router.folder.rules, { path, modifiedMs }, reading.ok ? reading.sidecar : null),
  };
}

/** `exclude` takes precedence over `include`. */
function whyNotSelected({ include, exclude }: FolderRouter['folder'], path: string): string {
  const excluding = exclude.find((pattern) => compileFilter([pattern], [])(path));
  if (excluding !== undefined) return `exclude matches it: ${JSON.stringify(excluding)}`;
  const trimmed = path.trim();
  if (trimmed !== path && compileFilter(include, [])(trimmed))
    return `no pattern of include selects it: the name has a space at the end`;
  const cause = include.map((pattern) => likelyCause(pattern, path)).find((one) => one !== null);
  if (cause !== undefined) return `no pattern of include selects it: ${cause.why}`;
  return `no pattern of include selects it: ${include.map((pattern) => JSON.stringify(pattern)).join(', ')}`;
}

/** Returns names in a directory that look like sidecars but match no video there. */
async function loneSidecarsIn(directory: string, router: FolderRouter): Promise<readonly string[]> {
  const names = await readdir(join(router.folder.path, directory)).catch(() => []);
  const lone = createLoneSidecars();
  const kinds = names.map((name) => ({ name, kind: router.accepts(posix.join(directory, name)) }));
  for (const { name, kind } of kinds) if (kind === 'sidecar') lone.add(name);
  for (const { name, kind } of kinds) if (kind === 'media' || kind === 'link') lone.matched(name);
  return lone.paths();
}

function whyIgnored(router: FolderRouter, path: string, loneSidecars: readonly string[]): string | null {
  const leftAlone = leftAloneName(path);
  if (leftAlone !== null)
    return `names like ${leftAlone.name} are left alone: ${JSON.stringify(leftAlone.segment)} is ${leftAlone.reason} (${leftAlone.program})`;
  const template = router.movedBy(path);
  if (template !== null) return `after_ready moves finished files there (move: ${JSON.stringify(template)})`;
  const kind = router.accepts(path);
  if (kind === 'proof') return 'it is a done marker or checksum of the file next to it';
  if (kind === 'sidecar')
    return loneSidecars.includes(posix.basename(path))
      ? 'it looks like a sidecar, but no video next to it has its name'
      : 'it is the sidecar of the video next to it';
  return kind === null ? whyNotSelected(router.folder, path) : null;
}
