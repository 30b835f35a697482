import { Hono } from 'hono';
import type { Daemon } from '../../daemon.ts';
import { filesOf } from '../../../view/files/files-view.ts';
import { queryWords, readQuery } from '../../../view/files/query.ts';
import { foundOf } from '../../../view/files/show-view.ts';

/**
 * - `GET /files`: a page of files, filtered as in `queryWords`; `after`, `before` (cursors), `limit`, `counts=1`
 * - `GET /file?name=`: everything about the files with a name
 * - `GET /settling?path=`: what a file is settling for
 *
 * @param mostFiles maximum number of files in one list
 */
export function fileRoutes(daemon: Daemon, mostFiles: number): Hono {
  const { ledger } = daemon;
  const app = new Hono();
  app.get('/files', async (context) => {
    const asked = context.req.query();
    const limit = Number(asked['limit'] ?? 100);
    const { selection, problems } = readQuery(
      Object.fromEntries(queryWords.map((word) => [word, asked[word]])),
      Date.now(),
    );
    const tooMany = `one list may have 1 to ${mostFiles} files; root and the user of the daemon get more`;
    const isLimit = Number.isInteger(limit) && limit >= 1 && limit <= mostFiles;
    const wrong = [...problems, ...(isLimit ? [] : [tooMany])];
    if (wrong.length > 0) return context.json({ error: { message: wrong.join('\n') } }, 400);
    const range = { after: asked['after'], before: asked['before'], limit };
    return context.json(await filesOf(ledger, daemon, { selection, range, isCounted: asked['counts'] === '1' }));
  });
  app.get('/file', async (context) => context.json(await foundOf(ledger, daemon, context.req.query('name') ?? '')));
  app.get('/settling', (context) => {
    const path = context.req.query('path') ?? '';
    const file = daemon.folders.settling().find((one) => `${one.folder}/${one.path}` === path);
    const folders = daemon.folders.status().filter((folder) => path.startsWith(`${folder.path}/`));
    const inner = folders.toSorted((one, other) => other.path.length - one.path.length)[0];
    return context.json({ v: 1, why: file?.why ?? null, frozen: inner?.state === 'frozen' ? inner.why : null });
  });
  return app;
}
