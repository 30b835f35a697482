import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { agentFile, launchAgent } from './launch-agent.ts';

/** Returns violations of Apple's PropertyList-1.0.dtd. xmllint would fetch the original; `plutil` runs on a Mac only. */
function complaints(xml: string): string {
  const rules = join(import.meta.dirname, 'PropertyList-1.0.dtd');
  return spawnSync('xmllint', ['--nonet', '--noout', '--dtdvalid', rules, '-'], {
    input: xml.replace(/<!DOCTYPE.*\n/, ''),
    encoding: 'utf8',
  }).stderr;
}

/** Keys of launchd.plist(5) that an agent like this one may have, and the type of each. */
const keys: Readonly<Record<string, string>> = {
  Label: 'string',
  ProgramArguments: 'object',
  EnvironmentVariables: 'object',
  WorkingDirectory: 'string',
  RunAtLoad: 'boolean',
  KeepAlive: 'object',
  ThrottleInterval: 'number',
  ExitTimeOut: 'number',
  ProcessType: 'string',
  Umask: 'number',
  StandardOutPath: 'string',
  StandardErrorPath: 'string',
};

test('the launch agent is a property list', needs('xmllint'), async () => {
  const xml = await readFile(agentFile, 'utf8');
  expect(complaints(xml)).toBe('');
  expect(complaints(xml.replace('<integer>60</integer>', '<number>60</number>'))).toContain(
    'No declaration for element number',
  );
});

test('the launch agent has only keys that launchd knows, with values of their type', async () => {
  const agent = await launchAgent();
  for (const [key, value] of Object.entries(agent)) expect([key, typeof value]).toEqual([key, keys[key]]);
  expect(agent).toMatchObject({ Label: 'local.dropcast', RunAtLoad: true, KeepAlive: { SuccessfulExit: false } });
  expect(agentFile).toMatch(/\/local\.dropcast\.plist$/);
  expect(agent['Umask']).toBe(0o077);
});
