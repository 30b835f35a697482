import { mkdir, writeFile } from 'node:fs/promises';
import { startDaemon } from '../../../src/daemon/daemon.ts';
import { testNotifications } from '../../../src/cli/act/notify-test.ts';
import { stateOf } from '../../../src/pipeline/file/facts.ts';
import { startVideoHost } from '../../e2e/video-host.ts';
import type { HostOptions } from '../../e2e/video-host.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { until } from '../../support/until.ts';
import { loadedConfig } from '../../support/configuration.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { servedPage } from './served-page.ts';
import { isCreate, refusal } from '../../e2e/answers.ts';

/** The service takes no video at all. */
export const refuseCreates: NonNullable<HostOptions['meddle']> = (request, response) =>
  isCreate(request) && refusal(response, 422, 'invalid_request');

/** A daemon beside a service, its page, and somebody who reads it and presses its buttons: all over HTTP. */
export async function openStation(options: HostOptions = {}, more: Readonly<Record<string, unknown>> = {}) {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await startVideoHost(options));
  const scratch = stack.use(await scratchDirectory());
  const inbox = scratch.file('inbox');
  await mkdir(inbox);
  const config = await loadedConfig(scratch, {
    service: { base_url: host.baseUrl, api_key: host.key },
    publish: { quiet: '100ms', at_most: '200ms' },
    folders: [{ rules: [{ match: '*.{mpg,mkv}', channel: 'ch_main', publish: ['feed_news'] }] }],
    ...more,
  });
  const daemon = await startDaemon(config, silentLogger);
  stack.defer(() => daemon.stop(AbortSignal.abort()));
  const page = stack.use(
    await servedPage({ daemon, testNotifications: testNotifications(() => daemon.config(), process.env) }),
  );
  const origin = `http://127.0.0.1:${page.port}`;
  const ask = async (path: string, method = 'GET', form: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(new URL(path, origin), {
      method,
      redirect: 'manual',
      headers: { authorization: 'Bearer the-token', origin },
      ...(method === 'POST' && { body: new URLSearchParams(form) }),
    });
    const html = await answer.text();
    const words = html
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll('&#39;', "'")
      .replaceAll(/\s+/g, ' ');
    return {
      status: answer.status,
      html: html.replaceAll('&amp;', '&'),
      words,
      to: answer.headers.get('location') ?? '',
    };
  };
  const facts = (path: string) => daemon.ledger.atPath(inbox, path);
  const owned = stack.move();
  return {
    host,
    daemon,
    page,
    inbox,
    ask,
    /** Presses a button, and looks where the browser goes then. */
    press: async (path: string, form?: Readonly<Record<string, string>>) => {
      const fields = form ?? (path.startsWith('/files/many') ? fieldsOf((await ask(path)).html) : {});
      const { status, to, words } = await ask(path, 'POST', fields);
      return status === 303 ? { status, to, words: (await ask(to)).words } : { status, to, words };
    },
    facts,
    drop: (path: string, content = `what is in ${path}`) => writeFile(`${inbox}/${path}`, content),
    reaches: (path: string, state: string) =>
      until(`${path} is ${state}`, async () => {
        const found = await facts(path);
        return found !== null && stateOf(found) === state;
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What the form of a page would send. */
export function fieldsOf(html: string): Readonly<Record<string, string>> {
  const [, form = ''] = /<form method="post">([^]*?)<\/form>/.exec(html) ?? [];
  return Object.fromEntries(
    [...form.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
}
