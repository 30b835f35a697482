import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { Events } from '../../../packages/sandbox/src/events.ts';
import { Journal } from '../../../packages/sandbox/src/http/journal.ts';

const NOTHING = { writeHead: () => undefined, flushHeaders: () => undefined, write: () => true, end: () => undefined };

function exchange(url: string) {
  const response = Object.assign(new EventEmitter(), { headersSent: false, statusCode: 0, ...NOTHING });
  const socket = { bytesRead: 10, bytesWritten: 20 };
  const request = { method: 'GET', url, socket, rawHeaders: [], headers: {}, push: () => true };
  const end = (statusCode: number) => {
    Object.assign(response, { headersSent: true, statusCode });
    response.emit('close');
  };
  return { request: request as unknown as IncomingMessage, response: response as unknown as ServerResponse, end };
}

function journalWith(...urls: string[]) {
  const events = new Events();
  const heard: string[] = [];
  events.listen(({ type, id }) => heard.push(`${type} ${id}`));
  const journal = new Journal({ nowMs: () => 0, events });
  const exchanges = urls.map(exchange);
  for (const { request, response } of exchanges) journal.follow(request, response);
  return { journal, exchanges, heard };
}

test('an entry becomes an event when its exchange begins, and again when it has ended', () => {
  const { journal, exchanges, heard } = journalWith('/v1/videos', '/v1/feeds');
  expect(heard.splice(0)).toEqual(['request 1', 'request 2']);
  expect(journal.entries()).toMatchObject([{ durationMs: null, status: 0 }, { durationMs: null }]);
  exchanges[1]?.end(200);
  expect(heard).toEqual(['request 2']);
  expect(journal.entries()[1]).toMatchObject({ number: 2, status: 200, bytesIn: 10, bytesOut: 20 });
});

test.each(['/', '/?token=x', '/_sandbox', '/_sandbox/requests', '/_page/style.css'])(
  '%s, of the admin side or the page, is not noted: the page would keep itself busy',
  (url) => {
    const { journal, exchanges, heard } = journalWith(url);
    exchanges[0]?.end(200);
    expect([journal.entries(), heard]).toEqual([[], []]);
  },
);

test.each(['/cdn/thumbnails/vid_x.jpg', '/embed/vid_x'])('%s is noted, but is no event', (url) => {
  const { journal, exchanges, heard } = journalWith(url);
  exchanges[0]?.end(200);
  expect([journal.entries().length, heard]).toEqual([1, []]);
});

test.each(['/_sandboxes', '/_pages', '/v1/_sandbox'])('%s is of the service', (url) => {
  expect(journalWith(url).journal.entries()).toHaveLength(1);
});

test('the oldest entries go when there are too many', () => {
  const journal = new Journal({ nowMs: () => 0, events: new Events(), mostEntries: 100 });
  for (let index = 0; index < 200; index += 1) {
    const { request, response } = exchange('/v1/videos');
    journal.follow(request, response);
  }
  expect(journal.entries()).toHaveLength(100);
  expect(journal.entries()[0]?.number).toBe(101);
  expect(journal.forgotten).toBe(100);
  journal.clear();
  expect([journal.forgotten, journal.cleared]).toEqual([0, 200]);
});

test('the details of the oldest go when they take too much memory, also while others are under way', () => {
  const { journal, exchanges } = journalWith(...Array.from({ length: 800 }, () => '/v1/videos'));
  for (const { request, response, end } of exchanges) {
    for (const chunk of [Buffer.alloc(64 * 1024, 'x'), null]) request.push(chunk);
    response.end();
    end(200);
  }
  const kept = journal.inspected().map(({ details }) => details !== undefined);
  expect(kept.slice(0, 280)).not.toContain(true);
  expect(kept.slice(-480)).not.toContain(false);
});

test('a cleared entry stays cleared when its exchange ends', () => {
  const { journal, exchanges } = journalWith('/v1/videos');
  journal.clear();
  exchanges[0]?.end(200);
  expect(journal.entries()).toEqual([]);
});
