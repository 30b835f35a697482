import { expect, test } from 'vitest';
import { keptOff } from '../../src/daemon/assemble.ts';
import { createPlaces } from '../../src/fleet/places.ts';
import type { LocalFiles } from '../../src/pipeline/file/ports.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { filesOfQuietFolders } from '../disk/quiet-folder.ts';

const why = 'only ingest2 can read this folder';
const places = createPlaces(
  'ingest1',
  () => [],
  () => why,
);
const local = keptOff(filesOfQuietFolders(), places.whyNotHere);
const facts = someFacts({
  folder: 'ingest2:/srv/in',
  afterReady: { kind: 'delete' },
  sha256: 'aa',
  disposal: 'pending',
});
const signal = new AbortController().signal;

const calls: Readonly<Record<keyof LocalFiles, () => Promise<unknown>>> = {
  check: () => local.check(facts),
  hash: () => local.hash(facts, signal),
  checksums: () => local.checksums(facts),
  dispose: () => local.dispose(facts, signal, true),
};

test.each(Object.entries(calls))(
  'a file that only another host can read waits, and is never judged gone: %s',
  async (name, call) => {
    const failure = { kind: 'suspended', code: 'folder_away', message: `ingest2:/srv/in: ${why}` };
    expect(await call()).toEqual(name === 'check' ? failure : { ok: false, failure });
  },
);
