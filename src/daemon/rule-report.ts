import type { FolderRouter } from '../intake/folder-router.ts';
import { explainRoute } from '../routing/explain.ts';
import type { Explanation } from '../routing/explain.ts';
import { isTemporaryName } from '../watch/temporary-name.ts';

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

function whyIgnored(router: FolderRouter, path: string): string | null {
  if (isTemporaryName(path)) return 'its name is hidden, temporary or partial';
  const template = router.movedBy(path);
  if (template !== null) return `after_ready moves finished files there (move: ${JSON.stringify(template)})`;
  const kind = router.accepts(path);
  if (kind === 'proof') return 'it is a done marker or checksum of what lies beside it';
  if (kind === 'sidecar') return 'it is the sidecar of the video beside it';
  return kind === null ? 'include and exclude do not select it' : null;
}
