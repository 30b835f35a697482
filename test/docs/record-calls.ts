import { openSync, writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { functionsOf } from './functions.ts';

/**
 * Preloaded with `node --import`: appends a line `FILE FUNCTION` to the file `$CALL_LOG` whenever a named function of the
 * daemon or of the client begins.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const log = openSync(process.env['CALL_LOG'] ?? '/dev/null', 'a');

Object.assign(globalThis, { recordCall: (line: string) => writeSync(log, line) });

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : '';
    const { source } = loaded;
    if (source == null || !/^(src|packages\/client\/src)\/.*\.ts$/.test(file)) return loaded;
    const text = typeof source === 'string' ? source : new TextDecoder().decode(source);
    return { ...loaded, source: recording(text, file) };
  },
});

/** The source with a call of `recordCall` at the start of each named function. */
function recording(source: string, file: string): string {
  const edits = functionsOf(source, file)
    .filter(({ name }) => name !== '(closure)')
    .flatMap(({ name, body, isExpression }) => {
      const call = `recordCall(${JSON.stringify(`${file} ${name}\n`)})`;
      if (!isExpression) return [{ at: body.start + 1, text: `${call};` }];
      return [
        { at: body.start, text: `(${call},(` },
        { at: body.end, text: '))' },
      ];
    });
  return edits
    .toSorted((one, other) => other.at - one.at)
    .reduce((text, { at, text: inserted }) => text.slice(0, at) + inserted + text.slice(at), source);
}
