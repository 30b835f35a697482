import { formatProblem } from '../../../config/problem.ts';
import type { Problem } from '../../../config/problem.ts';
import { serviceProblems } from '../../systemd/check-service.ts';
import { commandLine, findingFrom, needsSudo, problem as problemFinding, SkippedError } from '../finding.ts';
import type { Check } from '../finding.ts';

/** Reports the findings of `dropcast check`. */
export const configuration: Check = {
  name: 'configuration',
  run: async (patient) => {
    const { checked, noConfig, shell, isOutsider, isRoot, service } = patient;
    if (noConfig !== null) return [problemFinding(noConfig, 'without a configuration nothing runs', 'dropcast init')];
    if (checked === null) throw new SkippedError('there is none');
    // Root lacks access that the service has, for example on a share with root_squash.
    const isOthers = ({ message, passing }: Problem): boolean =>
      message.includes('(EACCES)') && (isOutsider || (isRoot && service !== null && passing === true));
    const found = checked.problems.filter((problem) => !isOthers(problem));
    if (found.length === 0 && checked.problems.length > 0)
      throw new SkippedError(
        isOutsider
          ? `only root can read all of it: ${needsSudo}`
          : 'root may not have access to all folders: access is tested as the user of the service',
      );
    return found.map((problem) => {
      const text = formatProblem(problem, shell.cwd);
      const finding =
        problem.severity === 'error'
          ? findingFrom('problem', text, 'the daemon neither starts nor reloads with it')
          : findingFrom('warning', text, 'it may not do what you intended');
      // If root can read a file and this user cannot, the file itself needs no change.
      const isClosed = /^cannot read the .*\(EACCES\)/.test(problem.message);
      const fix = isClosed
        ? `sudo ${commandLine(patient, 'doctor').replace(/^sudo /, '')}`
        : `edit ${checked.file}, then: ${commandLine(patient, 'check')}`;
      return { ...finding, fix: finding.fix ?? fix };
    });
  },
};

/** Compares the unit with what the configuration needs, and finds directories that are closed to the service's user. */
export const unit: Check = {
  name: 'unit and permissions',
  run: async ({ checked, service, isRoot }) => {
    if (checked === null || service === null)
      throw new SkippedError('this is not the configuration of an installed service');
    if (!isRoot) throw new SkippedError(`this needs root: ${needsSudo}`);
    const why = 'the service cannot use its folders as configured';
    return (await serviceProblems(checked)).map(({ message, severity }) =>
      findingFrom(severity === 'error' ? 'problem' : 'warning', message, why),
    );
  },
};
