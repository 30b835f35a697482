import type { FolderRouter } from '../../intake/folder-router.ts';
import { explainRoute } from '../../routing/explain.ts';
import type { Explanation } from '../../routing/explain.ts';
import { likelyCause } from '../../routing/likely-cause.ts';
import { compileFilter } from '../../routing/match.ts';
import { leftAloneName } from '../../watch/left-alone-names.ts';

/** What the rules of a folder say about a path in it. The file itself need not be there. */
export interface RuleReport {
  /** Why dropcast ignores the path; null when it does not. */
  readonly leftAlone: string | null;
  /** What its sidecar says, in words. */
  readonly sidecar: string;
  readonly explanation: Explanation;
}

/**
 * @param path relative to the folder
 * @param modifiedMs of the file, epoch milliseconds: titles may contain the day
 */
export async function ruleReport(router: FolderRouter, path: string, modifiedMs: number): Promise<RuleReport> {
  const reading = await router.sidecarOf(path);
  return {
    leftAlone: whyIgnored(router, path),
    sidecar: reading.ok
      ? reading.sidecar === null
        ? 'none'
        : `sets ${Object.keys(reading.sidecar).join(', ')}`
      : `broken: ${reading.why}`,
    explanation: explainRoute(router.folder.rules, { path, modifiedMs }, reading.ok ? reading.sidecar : null),
  };
}

/** `exclude` wins over `include`. */
function whyNotSelected({ include, exclude }: FolderRouter['folder'], path: string): string {
  const excluding = exclude.find((pattern) => compileFilter([pattern], [])(path));
  if (excluding !== undefined) return `exclude takes it out: ${JSON.stringify(excluding)}`;
  const trimmed = path.trim();
  if (trimmed !== path && compileFilter(include, [])(trimmed))
    return `no pattern of include selects it: the name has a space at the end`;
  const cause = include.map((pattern) => likelyCause(pattern, path)).find((one) => one !== null);
  if (cause !== undefined) return `no pattern of include selects it: ${cause.why}`;
  return `no pattern of include selects it: ${include.map((pattern) => JSON.stringify(pattern)).join(', ')}`;
}

function whyIgnored(router: FolderRouter, path: string): string | null {
  const leftAlone = leftAloneName(path);
  if (leftAlone !== null)
    return `names like ${leftAlone.name} are left alone: ${JSON.stringify(leftAlone.segment)} is ${leftAlone.reason} (${leftAlone.program})`;
  const template = router.movedBy(path);
  if (template !== null) return `after_ready moves finished files there (move: ${JSON.stringify(template)})`;
  const kind = router.accepts(path);
  if (kind === 'proof') return 'it is a done marker or checksum of what lies beside it';
  if (kind === 'sidecar') return 'it is the sidecar of the video beside it';
  return kind === null ? whyNotSelected(router.folder, path) : null;
}
