import { facts, fileSize, grouped, named, outside, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { Daemon } from '../../../daemon/daemon.ts';
import type { FileView } from '../../../view/files/file-view.ts';
import type { Facts } from '../../../pipeline/file/facts.ts';
import { breakable } from '../breakable.ts';
import { momentAndSpan } from '../moment.ts';
import { filesAddress } from './address.ts';

/** Shows where the file is, and its names on both sides. */
export function whereFacts(
  file: FileView,
  { folder, path }: Pick<Facts, 'folder' | 'path'>,
  links: Daemon['links'],
): Html {
  const embed = file.video_id === null ? null : links.find('video', file.video_id);
  return html`<section class="card" data-key="where">
    <div class="head"><h2>Where it is</h2></div>
    <div class="body">
      ${facts([
        ['Folder', html`<a href="${filesAddress({ folder })}">${named(folder)}</a>`],
        ['Path', named(path)],
        ['Size', file.size < 1_000 ? fileSize(file.size) : `${fileSize(file.size)} (${grouped(file.size)} bytes)`],
        ['Local file', file.local],
        ['Host', file.host === null ? null : named(file.host)],
        ['File id', code(file.id)],
        ['Video id', file.video_id === null ? null : code(file.video_id)],
        ['Watch', embed === null ? null : outside(embed, 'Open the video')],
        ['The service says', file.remote_status],
        ['Imported from', file.source_url],
        ['SHA-256', file.sha256 === null ? null : code(file.sha256)],
      ])}
    </div>
  </section>`;
}

/** Shows the metadata for the service, and the rule that sets it. */
export function planFacts(
  file: FileView,
  { config, links }: { readonly config: ReturnType<Daemon['config']>; readonly links: Daemon['links'] },
  now: number,
): Html | '' {
  if (file.rule === null) return '';
  const feeds = file.publish.map((feed) => {
    const at = file.published[feed];
    return html`<li>
      <a href="${filesAddress({ feed })}">${named(feed)}</a>
      ${at === undefined ? 'not published yet' : html`published ${momentAndSpan(at, now)}`} ${feedLink(feed, links)}
    </li>`;
  });
  return html`<section class="card" data-key="plan">
    <div class="head"><h2>What is sent</h2></div>
    <div class="body">
      ${facts([
        [
          'Channel',
          file.channel === null
            ? null
            : html`<a href="${filesAddress({ channel: file.channel })}">${named(file.channel)}</a>`,
        ],
        ['Title', file.title === null ? null : named(file.title)],
        ['Description', file.description === null ? null : named(file.description)],
        ['Tags', file.tags.length === 0 ? null : visibleText(file.tags.join(', '))],
        [
          'Feeds',
          feeds.length === 0
            ? null
            : html`<ul class="examples">
                ${feeds}
              </ul>`,
        ],
        ['Priority', file.priority],
        ['Rule', ruleWords(file.rule, config)],
      ])}
    </div>
  </section>`;
}

function feedLink(feed: string, links: Daemon['links']): Html | '' {
  const url = links.find('feed', feed);
  return url === null ? '' : outside(url, 'Open the feed');
}

/** Shows the current rule, which may have changed since it accepted the file. */
function ruleWords(key: string, config: ReturnType<Daemon['config']>): Html {
  const rule = config.folders.flatMap(({ rules }) => rules).find((one) => one.key === key);
  return rule === undefined
    ? html`${code(key)}, which the configuration no longer has`
    : html`${code(key)} ${code(rule.match)}, line ${String(rule.line)} of the configuration`;
}

function code(text: string): Html {
  return html`<code>${breakable(visibleText(text))}</code>`;
}
