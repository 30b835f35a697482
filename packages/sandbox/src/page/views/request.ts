import type { Context } from 'hono';
import { badge, emptyState, facts, fileSize, named, span, time, visibleLines, type Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { requestAt } from '../../admin/requests.ts';
import { detailsOf } from './faults.ts';
import { jsonOf, type Details, type InspectedRequest, type ShownBody } from '../../inspector/details.ts';
import type { Services } from '../../services.ts';
import type { View } from '../layout.ts';
import { videoPath } from '../video-table.ts';
import { feedPath } from './feeds.ts';
import { statusOf, targetOf } from './requests.ts';
import { keyId } from '../../admin/keys.ts';
import { kindInWords } from '../fault-presets.ts';

/** View of one request with everything known about it. @throws ApiError 404 */
export function request(journal: Services['journal']): (context: Context) => View {
  return (context) => {
    const found = requestAt(journal, context.req.param('number'));
    const { details } = found;
    return {
      title: `Request ${found.number}`,
      section: '/_page/requests',
      changesWith: ['request'],
      aside: neighbours(found.number, journal.lastNumber),
      body: html`${summary(found)} ${details ? exchange(details) : dropped()}`,
    };
  };
}

/** Links to the previous and next request numbers. A cleared request has a page that states so. */
function neighbours(number: number, last: number): Html {
  return html`<div class="row middle">
    ${number > 1 ? html`<a href="/_page/requests/${number - 1}">Previous</a>` : ''}
    ${number < last ? html`<a href="/_page/requests/${number + 1}">Next</a>` : ''}
  </div>`;
}

function summary(found: InspectedRequest): Html {
  const { method, operation, atMs, keyId: key, bytesIn, bytesOut, details } = found;
  return html`<section class="card" id="request">
    <div class="head">
      <h2><code>${method} ${named(targetOf(found))}</code></h2>
      ${statusOf(found)}
    </div>
    <div class="body">
      ${facts([
        ['Arrived', time(atMs)],
        ['Operation', operation === 'unknown' ? null : operation],
        ['Key', key === null ? 'none that is valid' : html`<code>${keyId(key)}</code>`],
        ...subjects(found),
        ['Body received', after(details?.receivedMs)],
        ['Answer begun', after(details?.firstByteMs)],
        ['Answer sent', after(details?.sentMs)],
        ['Took', found.durationMs === null ? 'still under way' : span(found.durationMs)],
        ['On the connection', bytesIn === null ? null : `${fileSize(bytesIn)} in, ${fileSize(bytesOut ?? 0)} out`],
      ])}
      ${faultOf(found)}
    </div>
  </section>`;
}

function subjects({ videoId, channelId, feedId }: InspectedRequest): (readonly [string, Html | null])[] {
  return [
    ['Video', videoId === null ? null : html`<a href="${videoPath(videoId)}"><code>${named(videoId)}</code></a>`],
    ['Channel', channelId === null ? null : html`<code>${named(channelId)}</code>`],
    ['Feed', feedId === null ? null : html`<a href="${feedPath(feedId)}"><code>${named(feedId)}</code></a>`],
  ];
}

function after(ms: number | null | undefined): string | null {
  if (ms === undefined) return null;
  return ms === null ? 'no' : `after ${span(ms)}`;
}

function faultOf({ fault, details }: InspectedRequest): Html | '' {
  if (fault === null) return '';
  const rule = details?.faultRule;
  return html`<p>
    ${badge('notice', kindInWords(fault))} ${rule ? html`<bdi>${detailsOf(rule)}</bdi>` : ''}
    <a href="/_page/faults">Faults</a>
  </p>`;
}

function exchange({ requestHeaders, requestBody, answerHeaders, answerBody }: Details): Html {
  return html`<div class="columns">
    ${side('What came', 'Request', requestHeaders, requestBody)}
    ${side('What was answered', 'Answer', answerHeaders, answerBody)}
  </div>`;
}

function side(heading: string, what: string, headers: Readonly<Record<string, string>>, body: ShownBody): Html {
  const fields = Object.entries(headers);
  return html`<section class="card" id="${what.toLowerCase()}-content">
    <div class="head">
      <h2>${heading}</h2>
      <span class="muted">${sizeOf(body)}</span>
    </div>
    <div class="body">
      ${
        fields.length === 0
          ? html`<p class="muted">No headers.</p>`
          : html`<dl class="headers">
              ${fields.map(
                ([name, value]) =>
                  html`<div>
                    <dt>${named(name)}</dt>
                    <dd>${named(value)}</dd>
                  </div>`,
              )}
            </dl>`
      }
      ${bodyOf(what, body)}
    </div>
  </section>`;
}

function sizeOf({ sizeBytes, isComplete }: ShownBody): string {
  if (sizeBytes === 0) return 'no body';
  return isComplete ? fileSize(sizeBytes) : `${fileSize(sizeBytes)}, not to its end`;
}

function bodyOf(what: string, body: ShownBody): Html | '' {
  const { sizeBytes, type, text, isCut, firstBytes } = body;
  if (sizeBytes === 0) return '';
  if (text === null)
    return html`<p class="muted">
      ${named(type ?? 'No type')}. It begins with
      <code>${firstBytes.toString('hex').replaceAll(/..(?=.)/g, '$& ')}</code>
    </p>`;
  const shown = jsonOf(body) === undefined ? text : indentedJson(text);
  return html`<pre class="source" tabindex="0" role="region" aria-label="Body of the ${what.toLowerCase()}">
${visibleLines(shown)}</pre>
    ${isCut ? html`<p class="muted">The journal keeps only this beginning.</p>` : ''}`;
}

function dropped(): Html {
  return html`<section class="card">
    ${emptyState('Headers and bodies of older requests are dropped when they take more than 32 MiB.')}
  </section>`;
}

/**
 * Returns the JSON text with line breaks and indentation, otherwise unchanged. Pure. `JSON.parse` would lose the digits
 * of large numbers, all but the last of repeated fields, and how characters are escaped.
 * @param json valid JSON
 */
export function indentedJson(json: string): string {
  const tokens = json.match(TOKEN) ?? [];
  let depth = 0;
  return tokens
    .map((token, index) => {
      if (OPENING.has(token)) depth += 1;
      if (CLOSING.has(token)) depth -= 1;
      const next = tokens[index + 1] ?? '';
      return `${token}${gapBetween(token, next, depth)}`;
    })
    .join('');
}

const TOKEN = /"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const OPENING = new Set(['{', '[']);
const CLOSING = new Set(['}', ']']);

/** Returns the white space between two tokens. @param depth nesting depth after the first token */
function gapBetween(token: string, next: string, depth: number): string {
  if (token === ':') return ' ';
  if (CLOSING.has(next)) return OPENING.has(token) ? '' : lineBreak(depth - 1);
  return OPENING.has(token) || token === ',' ? lineBreak(depth) : '';
}

function lineBreak(depth: number): string {
  return `\n${'  '.repeat(depth)}`;
}
