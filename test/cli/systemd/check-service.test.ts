import { describe, expect, test } from 'vitest';
import { closedFolders, dropInFindings } from '../../../src/cli/systemd/check-service.ts';
import { installedService } from '../../../src/config/installed-service.ts';
import { dropInText } from '../../../src/systemd/drop-in.ts';
import type { UnitNeeds, FolderNeeds } from '../../../src/systemd/drop-in.ts';

const inbox: FolderNeeds = {
  path: '/mnt/nas/in',
  realPath: '/mnt/nas/in',
  isThere: true,
  isWritten: true,
  mountPoint: '/mnt/nas',
  groups: ['media'],
  commands: [],
  groupCommand: null,
};
const site = (...folders: readonly FolderNeeds[]): UnitNeeds => ({
  configFile: '/etc/dropcast/press.yaml',
  folders,
  written: [],
  secretFiles: [],
  programs: [],
  resolvers: [],
  port: null,
});
const service = installedService('press');
const said = (of: UnitNeeds, installed: string | null): readonly string[] =>
  dropInFindings(of, installed, service).map(({ message, severity }) => `${severity}: ${message}`);

const file = '/etc/systemd/system/dropcast@press.service.d/folders.conf';
const fix = 'sudo dropcast setup --instance press';
const advice = (what: string): readonly unknown[] => [expect.stringMatching(new RegExp(`^warning: ${file} .*${what}`))];
const isMissing = advice('missing');
const isOutdated = advice('out of date');

describe('the drop-in that is installed', () => {
  const text = dropInText(site(inbox));
  test.each<[string, UnitNeeds, string | null, readonly unknown[]]>([
    ['is as it should be', site(inbox), text, []],
    ['is missing', site(inbox), null, isMissing],
    ['is missing where nothing is needed', site(), null, []],
    ['lacks a folder', site(inbox, { ...inbox, path: '/srv/b', realPath: '/srv/b' }), text, isOutdated],
    ['gives a group that is no longer needed', site({ ...inbox, groups: [] }), text, isOutdated],
    ['has foreign lines', site(inbox), `${text}LoadCredentialEncrypted=api_key:/x\n# Hello\n`, []],
    [
      'knows a disk that is missing now, and its group',
      site({ ...inbox, isThere: false, mountPoint: null, groups: [] }),
      text,
      [],
    ],
  ])('%s', (_, of, installed, findings) => {
    expect(said(of, installed)).toEqual(findings);
    for (const line of said(of, installed)) expect(line.endsWith(`: ${fix}`)).toBe(true);
  });
});

test('a folder that its user cannot use is an error, with the command that opens it', () => {
  expect(closedFolders(site(inbox, { ...inbox, path: '/srv/b', commands: ['sudo setfacl …'] }))).toEqual([
    {
      key: 'folders[1].path',
      message: expect.stringMatching(/\/srv\/b.*: sudo setfacl …$/),
      severity: 'error',
    },
  ]);
});
