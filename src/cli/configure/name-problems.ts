import type { Problem } from '../../config/problem.ts';
import type { UnknownNameFinding } from '../../config/unknown-names.ts';
import type { CheckedConfig } from '../read-config.ts';

/** Channels and feeds that the service does not have, as problems of the configuration that names them. */
export function nameProblems(
  findings: readonly UnknownNameFinding[],
  { file, locate }: Pick<CheckedConfig, 'file' | 'locate'>,
): readonly Problem[] {
  return findings.map(({ key, message }) => ({ file, ...locate(key), key, message, severity: 'error' }));
}
