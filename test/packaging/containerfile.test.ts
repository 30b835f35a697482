import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'packaging/Containerfile'), 'utf8');
/** Instructions with what was continued on further lines. */
const instructions = text
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '');
const values = (name: string): readonly string[] =>
  instructions.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));

test('the Containerfile has no faults', () => {
  expect(validate(text)).toEqual([]);
  expect(validate('FROM debian\nHEALTHCHECK CMD\nUSR x\n')).not.toEqual([]); // the linter does find them
});

test('it runs as a numbered user, who is not root', () => {
  const user = values('USER').at(-1);
  expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  const [uid, gid] = user?.split(':') ?? [];
  expect(values('RUN').join('\n')).toContain(`useradd --system --uid ${uid} --gid ${gid}`);
  expect(text).toContain(`uid=${uid},gid=${gid}`); // of the tmpfs in the line that runs it
});

test('it starts without a shell, with the flags of the unit', () => {
  const unit = readFileSync(join(root, 'systemd/dropcast.service'), 'utf8');
  const words = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];
  const started = [...values('ENTRYPOINT'), ...values('CMD')].flatMap((list) => JSON.parse(list) as string[]);
  expect(started).toEqual(words);
});

test('its health is what dropcast status ends with', () => {
  const [check = ''] = values('HEALTHCHECK');
  const command = JSON.parse(check.slice(check.indexOf('['))) as string[];
  expect(command.at(0)).toBe('/usr/lib/dropcast/bin/node');
  expect(command.slice(-2)).toEqual(['/usr/lib/dropcast/dist/main.js', 'status']);
});

test('what is written lies in volumes, so that the root can be read-only', () => {
  const environment = values('ENV').join(' ');
  const written = ['STATE_DIRECTORY', 'RUNTIME_DIRECTORY'].map(
    (name) => new RegExp(`${name}=(\\S+)`).exec(environment)?.[1],
  );
  expect(JSON.parse(values('VOLUME').join())).toEqual(written);
  expect(text).toContain('--read-only --cap-drop=ALL --security-opt=no-new-privileges');
});

test('no directory is created that nothing is configured to use', () => {
  const made = values('RUN').flatMap((run) => run.split('&&').filter((step) => /^ *install -d /.test(step)));
  const directories = made.flatMap((step) => step.trim().split(' ')).filter((word) => word.startsWith('/'));
  expect(directories.length).toBeGreaterThan(0);
  const environment = values('ENV').join(' ').split(/[ =]/);
  expect(directories.filter((directory) => !environment.includes(directory))).toEqual([]);
});

test('no secret is in the image, and nothing of the repository but the package', () => {
  expect(values('ENV').join() + values('ARG').join()).not.toMatch(/KEY|SECRET|TOKEN|PASSWORD/);
  expect(values('COPY')).toEqual(['${DEB} /tmp/dropcast.deb']);
  expect(
    readFileSync(join(root, '.containerignore'), 'utf8')
      .split('\n')
      .filter((line) => /^[^#]/.test(line)),
  ).toEqual(['*', '!build/dropcast_*.deb']);
});
