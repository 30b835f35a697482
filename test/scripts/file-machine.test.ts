import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { fileMachineDiagram } from '../../scripts/file-machine.ts';
import { fileMachine } from '../../src/pipeline/file/machine.ts';
import { generatedFiles } from '../../scripts/generate.ts';

const diagram = fileMachineDiagram();

test('docs/file-machine.mmd is what the machine is; if not: npm run generate', () => {
  expect(readFileSync(resolve(import.meta.dirname, '../../docs/file-machine.mmd'), 'utf8')).toBe(diagram);
  expect(generatedFiles.map(({ path }) => path)).toContain('docs/file-machine.mmd');
});

test('every state is in the diagram and has a way in', () => {
  for (const key of Object.keys(fileMachine.states)) {
    const id = key.replaceAll(' ', '_');
    expect(diagram).toContain(`  state "${key}" as ${id}\n`);
    expect(diagram).toMatch(new RegExp(`--> ${id}( :|\n)`));
  }
});

test('the edges without an event, of resuming, are in it', () => {
  expect(diagram).toContain('  resuming --> awaiting_publish : [leftOff awaiting publish]\n');
  expect(diagram).toContain('  resuming --> queued : else\n');
});

test('reads from left to right along the happy path', () => {
  const happy = [
    '[*] --> queued',
    'creating',
    'awaiting_upload',
    'uploading',
    'processing',
    'awaiting_publish',
    'done',
  ];
  const firstArrowTo = (state: string): number => diagram.indexOf(`--> ${state} :`);
  const places = happy.slice(1).map(firstArrowTo);
  expect(diagram).toContain('direction LR');
  expect(places.every((place) => place > 0)).toBe(true);
});

test('no text holds what ends a text in Mermaid', () => {
  for (const line of diagram.split('\n')) expect(line.split(' : ').slice(1).join(' : ')).not.toMatch(/[:;]|undefined/);
});
