import { expect, test } from 'vitest';
import { isElsewhere, needsRestart } from '../../../src/cli/configure/reload-config.ts';
import { scratch } from '../../config/scratch.ts';
import { configText } from '../../support/configuration.ts';

const at = 'url: "postgres://dropcast@db.example.com/dropcast"';

test.for([
  ['the same', `ledger: { ${at} }`, `ledger: { ${at} } # again`, false],
  [
    'the same, in other words',
    'ledger: postgres://d@db.example.com/l',
    'ledger: { url: "postgres://d@db.example.com/l", tls: true }',
    false,
  ],
  ['another database', `ledger: { ${at} }`, 'ledger: postgres://dropcast@db.example.com/other', true],
  ['a database instead of the state directory', '', `ledger: { ${at} }`, true],
  ['the state directory instead of a database', `ledger: { ${at} }`, '', true],
  ['another password', `ledger: { ${at}, password: one }`, `ledger: { ${at}, password: other }`, true],
  ['no TLS', `ledger: { ${at} }`, `ledger: { ${at}, tls: false }`, true],
  ['another member of a fleet', `ledger: { ${at} }\nhost_name: a`, `ledger: { ${at} }\nhost_name: b`, true],
  ['another name of a single host, which is not shown anywhere', 'host_name: a', 'host_name: b', false],
  ['another state directory', 'state_dir: /a', 'state_dir: /b', true],
] as const)('a reload needs a restart when the configuration has %s: %s', async ([, one, other, expected]) => {
  await using here = await scratch();
  const load = async (lines: string) => (await here.load(`${configText({ state_dir: undefined })}${lines}\n`)).config;
  const [before, after] = [await load(one), await load(other)];
  if (before === null || after === null) throw new Error('not valid');
  expect(isElsewhere(before, after)).toBe(expected);
  expect(needsRestart).toMatch(/^restart to change state_dir, ledger, host_name/);
});
