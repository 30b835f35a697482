import fsp from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '@dropcast/sandbox';
import type { Sandbox } from '@dropcast/sandbox';
import { init } from '../../../src/cli/setup/init.ts';
import { makeFolder } from '../../../src/cli/setup/make-folder.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { fakeShell } from '../api/fake-shell.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const calls = ['mkdir', 'mkdtemp', 'chown', 'chmod', 'open', 'rename', 'link', 'rm', 'rmdir'] as const;
const ofHandles = ['writeFile', 'chmod', 'chown', 'sync'] as const;
type Call = (...given: readonly unknown[]) => Promise<unknown>;

/**
 * Counts what changes files, and at one of these moments nothing more happens, as if the process was killed: not even what
 * `finally` would clean up.
 *
 * @param seen called before each of them
 */
function killAt(
  moment: number,
  seen: () => Promise<void>,
): { readonly isDead: boolean; readonly moments: number } & AsyncDisposable {
  const originals = calls.map((name) => fsp[name]);
  let moments = 0;
  const dying =
    (call: Call): Call =>
    async (...given) => {
      await seen();
      moments += 1;
      return moments >= moment ? new Promise(() => undefined) : call(...given);
    };
  for (const [index, name] of calls.entries()) Object.assign(fsp, { [name]: dying(originals[index] as Call) });
  const { open } = fsp;
  const handles: FileHandle[] = [];
  Object.assign(fsp, {
    open: async (...given: Parameters<typeof open>) => {
      const handle: FileHandle = await open(...given);
      handles.push(handle);
      for (const name of ofHandles) Object.assign(handle, { [name]: dying(handle[name].bind(handle) as Call) });
      return handle;
    },
  });
  syncBuiltinESMExports();
  return {
    get isDead() {
      return moments >= moment;
    },
    get moments() {
      return moments;
    },
    [Symbol.asyncDispose]: async () => {
      for (const [index, name] of calls.entries()) Object.assign(fsp, { [name]: originals[index] });
      syncBuiltinESMExports();
      // What a dead process had open is closed.
      await Promise.all(handles.map((handle) => handle.close()));
    },
  };
}

/** Every file below with its mode and text. */
async function contents(folder: string): Promise<Record<string, string>> {
  const entries = await fsp.readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.map(async (entry): Promise<[string, string]> => {
    const path = join(entry.parentPath, entry.name);
    const { mode, uid, gid } = await fsp.stat(path);
    const text = entry.isFile() ? await fsp.readFile(path, 'utf8') : '/';
    return [path.slice(folder.length + 1), `${(mode & 0o7777).toString(8)} ${uid}:${gid} ${text}`];
  });
  return Object.fromEntries((await Promise.all(found)).toSorted(([one], [other]) => one.localeCompare(other)));
}

test('whenever init is killed, nothing of the key is readable for others, and the next run leaves what one run leaves', async () => {
  const moments = new Set<number>();
  let whole: Record<string, string> | null = null;
  for (let moment = 99; ; moment = moment === 99 ? 1 : moment + 1) {
    await using scratch = await scratchDirectory();
    const shell = fakeShell({ cwd: scratch.path, env: { XDG_STATE_HOME: scratch.file('xdg') } });
    const run = async (): Promise<void> => {
      shell.keyboard.end(sandbox.apiKey);
      await init(shell, { service: sandbox.baseUrl, keyFile: '-', folder: 'inbox', channel: 'ch_main', force: true });
    };
    await fsp.writeFile(scratch.file('dropcast.yaml'), 'earlier: 1\n', { mode: 0o640 });
    const open: string[] = [];
    const look = async (): Promise<void> => {
      for (const [name, found] of Object.entries(await contents(scratch.path)))
        if (found.includes(sandbox.apiKey) && !found.startsWith('600 ')) open.push(`${name} ${found}`);
      expect(Object.values(await contents(scratch.path)).some((found) => found.endsWith('earlier: 1\n'))).toBe(true);
    };
    {
      await using killed = killAt(moment, look);
      const running = run();
      await Promise.race([running, until('it is killed', () => killed.isDead)]);
      if (!killed.isDead) moments.add(killed.moments);
    }
    expect(open).toEqual([]);
    if (whole === null) {
      whole = ofRun(await contents(scratch.path), scratch.path);
      continue;
    }
    if (moment > [...moments][0]!) break;
    const again = fakeShell({ cwd: scratch.path, env: { XDG_STATE_HOME: scratch.file('xdg') } });
    again.keyboard.end(sandbox.apiKey);
    await init(again, { service: sandbox.baseUrl, keyFile: '-', folder: 'inbox', channel: 'ch_main', force: true });
    const { 'dropcast.yaml.~2~': _, ...left } = ofRun(await contents(scratch.path), scratch.path);
    expect(left, `killed at ${moment}`).toEqual(whole);
  }
  expect(Object.keys(whole ?? {})).toEqual(['dropcast.key', 'dropcast.yaml', 'dropcast.yaml.~1~', 'inbox']);
  expect([...moments][0]).toBeGreaterThan(8);
});

function ofRun(found: Record<string, string>, scratch: string): Record<string, string> {
  return Object.fromEntries(Object.entries(found).map(([name, text]) => [name, text.replaceAll(scratch, '')]));
}

test('a folder that was half made when setup was killed is made again, for its group', needs('root'), async () => {
  for (let moment = 1; ; moment += 1) {
    await using scratch = await scratchDirectory();
    const make = async (): Promise<string> => {
      const isThere = await fsp.stat(scratch.file('inbox')).then(
        () => true,
        () => false,
      );
      return makeFolder({ path: scratch.file('inbox'), isThere }, 'nogroup', fakeShell({ env: { SUDO_UID: '12345' } }));
    };
    let isWhole: boolean;
    {
      await using killed = killAt(moment, async () => undefined);
      await Promise.race([make(), until('it is killed', () => killed.isDead)]);
      isWhole = !killed.isDead;
    }
    await make();
    const { mode, uid } = await fsp.stat(scratch.file('inbox'));
    expect([(mode & 0o7777).toString(8), uid], `killed at ${moment}`).toEqual(['2770', 12345]);
    if (isWhole) break;
  }
});
