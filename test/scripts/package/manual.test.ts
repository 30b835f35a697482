import { expect, test } from 'vitest';
import { configKeys, configManual } from '../../../scripts/package/config-manual.ts';
import { allCommands, describeProgram } from '../../../scripts/package/command-tree.ts';
import type { CommandDocument } from '../../../scripts/package/command-tree.ts';
import { programManual } from '../../../scripts/package/manual.ts';
import { configJsonSchema } from '../../../src/config/json-schema.ts';
import type { JsonSchema } from '../../../src/config/json-schema.ts';

const program = describeProgram();
/** As it is read: without fonts, escapes and requests. */
const shown = (roff: string): string =>
  roff
    .replaceAll(/\\f[BIR]|\\:/g, '')
    .replaceAll('\\-', '-')
    .replaceAll('\\(aq', "'")
    .replaceAll('\n', ' ');

test('dropcast(8) has every command, argument and option of --help, with what they do', () => {
  const page = shown(programManual(program, 0));
  for (const { path, arguments: operands, options, description } of allCommands(program)) {
    const usage = [path, ...operands.map(({ term }) => term.replaceAll(/[<>]/g, ''))].join(' ').trim();
    expect(page).toContain(usage);
    expect(page).toContain(description.slice(1));
    for (const { long, value } of options) expect(page).toContain(`${long}${value === null ? '' : ` ${value.name}`}`);
  }
});

test('dropcast(8) lists the words that an option accepts, and its default', () => {
  const page = shown(programManual(program, 0));
  expect(page).toContain('Any of: settling, queued, uploading, processing, publishing, done,');
  expect(page).toContain('One of: same, separate. Default: same.');
  expect(page).toContain('Default: 2m.');
});

test('options that all commands of a group take are listed once', () => {
  const page = shown(programManual(program, 0));
  // `probe` takes it too, and is in no group.
  expect(page.match(/--base-url url/g)).toHaveLength(2);
  expect(page.match(/Each request counts against the hourly limit/g)).toHaveLength(1);
});

test('later commands are in it automatically', () => {
  const added: CommandDocument = { ...(program.commands[0] as CommandDocument), path: 'new', description: 'do more' };
  expect(programManual({ ...program, commands: [...program.commands, added] }, 0)).toContain('Do more.');
});

test('dropcast.yaml(5) has every key of the schema with type, range, default and example', () => {
  const page = shown(configManual(0));
  expect(configKeys().map(({ key }) => key)).toEqual(expect.arrayContaining(leavesOf(configJsonSchema(), '')));
  for (const { key, description } of configKeys()) {
    expect(page).toContain(`${key} (`);
    expect(page).toContain(description.replaceAll('…', '...').slice(0, 60).split('~')[0]);
  }
  expect(page).toContain('service.requests_per_hour (whole number)');
  expect(page).toContain('From 1 to 1000000. Default: 1000.');
  expect(page).toContain('folders[].watch (auto | native | polling)');
  expect(page).toContain('folders[].after_ready (keep | delete or { move } or { delete })');
});

test('the day of a page is the given one', () => {
  expect(programManual(program, 86_400 * 365)).toContain('.TH DROPCAST 8 1971-01-01 dropcast');
});

function leavesOf(schema: JsonSchema, key: string): string[] {
  if (schema.items?.properties !== undefined) return leavesOf(schema.items, `${key}[]`);
  if (schema.properties === undefined) return [key];
  return Object.entries(schema.properties).flatMap(([name, inner]) =>
    leavesOf(inner, key === '' ? name : `${key}.${name}`),
  );
}
