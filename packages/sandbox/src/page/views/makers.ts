import { html } from 'hono/html';
import { button, confirmed, fileSize, select, table, time, unseen, visibleText, type Html } from '@dropcast/pages';
import type { NamedSnapshot } from '../../makers/named-snapshots.ts';

/** Card for a new channel. Cards make what the API cannot: channels, feeds, ready videos, plays, named states. */
export function newChannelCard(): Html {
  return card('new-channel', 'New channel', [
    '/_page/channels',
    html`${field('Name', 'name', 200)} ${field('Description', 'description', 10_000, false)} <button>Make</button>`,
  ]);
}

export function removeChannelButton(id: string): Html {
  return confirmed(`/_page/channels/${encodeURIComponent(id)}/delete`, {
    first: 'Remove…',
    question: 'Only a channel without videos and feeds can be removed.',
    second: 'Remove the channel',
  });
}

/** @param channels channel names by id */
export function newFeedCard(channels: ReadonlyMap<string, string>): Html {
  const types = ['mrss', 'podcast', 'ctv'].map((value) => ({ value, label: value }));
  return card('new-feed', 'New feed', [
    '/_page/feeds',
    html`${field('Name', 'name', 200)} ${select('type', 'Type', 'mrss', types)} ${channelChoice(channels)}
      <button>Make</button>`,
  ]);
}

export function removeFeedButton(id: string): Html {
  return confirmed(`/_page/feeds/${encodeURIComponent(id)}/delete`, {
    first: 'Remove…',
    question: 'Its address answers with 404 then.',
    second: 'Remove the feed',
  });
}

/** @param channels channel names by id */
export function newVideoCard(channels: ReadonlyMap<string, string>): Html {
  return card('new-video', 'New ready video', [
    '/_page/videos',
    html`${field('Title', 'title', 500)} ${channelChoice(channels)}
      <label>Length in seconds <input name="duration" type="number" min="1" max="10000000" /></label>
      <button>Make</button>`,
  ]);
}

/** Form below a video's plays, for adding one. */
export function newPlaysForm(videoPath: string): Html {
  return html`<form method="post" action="${videoPath}/plays" class="row" id="new-play">
    <label>Seconds watched <input name="seconds" type="number" min="0" max="10000000" value="10" required /></label>
    ${field('Viewer', 'viewer', 200, false)}
    <label class="check"><input type="checkbox" name="complete" value="true" /> To the end</label>
    <button>Add a play</button>
  </form>`;
}

export function snapshotsByName(snapshots: readonly NamedSnapshot[]): Html {
  return html`<section class="card" id="named-snapshots">
    <div class="head"><h2>Saved states</h2></div>
    <div class="body">
      <form method="post" action="/_page/snapshots" class="row">
        <label
          >Name
          <input
            name="name"
            required
            maxlength="100"
            pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*"
            placeholder="before-the-test"
        /></label>
        <button>Save the state</button>
      </form>
      ${
        snapshots.length === 0
          ? ''
          : table({
              label: 'Saved states',
              items: snapshots,
              keyOf: ({ name }) => name,
              columns: [
                { heading: 'Name', kind: 'main', cell: ({ name }) => html`<code>${visibleText(name)}</code>` },
                { heading: 'Saved', kind: 'minor', cell: ({ saved_at: at }) => time(Date.parse(at)) },
                { heading: 'Size', kind: 'minor number', cell: ({ bytes }) => fileSize(bytes) },
                { heading: 'Restore', cell: ({ name }) => restoreButton(name) },
                {
                  heading: 'Remove',
                  cell: ({ name }) => button(`${pathOf(name)}/delete`, html`Remove${unseen(` ${visibleText(name)}`)}`),
                },
              ],
            })
      }
    </div>
  </section>`;
}

function restoreButton(name: string): Html {
  return confirmed(`${pathOf(name)}/restore`, {
    first: 'Restore…',
    question: 'Replaces all current records and files.',
    second: 'Restore this state',
  });
}

function pathOf(name: string): string {
  return `/_page/snapshots/${encodeURIComponent(name)}`;
}

function card(id: string, title: string, [action, fields]: readonly [action: string, fields: Html]): Html {
  return html`<section class="card" id="${id}">
    <div class="head"><h2>${title}</h2></div>
    <div class="body"><form method="post" action="${action}" class="row">${fields}</form></div>
  </section>`;
}

function field(label: string, name: string, maxCharacters: number, isRequired = true): Html {
  return isRequired
    ? html`<label>${label} <input name="${name}" maxlength="${maxCharacters}" required /></label>`
    : html`<label>${label} <input name="${name}" maxlength="${maxCharacters}" /></label>`;
}

function channelChoice(channels: ReadonlyMap<string, string>): Html {
  const choices = [...channels].map(([value, label]) => ({ value, label }));
  return select('channel_id', 'Channel', choices[0]?.value, choices);
}
