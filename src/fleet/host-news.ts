import type { FleetView, Host } from '../view/hosts/fleet-view.ts';
import { heardWords, silentWords } from '../view/words/events.ts';
import type { NewsLines } from '../daemon/news/lines.ts';
import { hostView } from '../view/hosts/host-view.ts';
import type { HostView } from '../view/hosts/host-view.ts';

/**
 * Reports when a host joins, becomes silent or is drained, and when the database becomes unreachable.
 *
 * @returns a function to call after every possible change
 */
export function createHostNews(fleet: FleetView, news: Pick<NewsLines, 'add'>): () => void {
  let before = statesOf(fleet.known(), fleet.self);
  let wasAway = false;
  const say = (level: 'info' | 'warn', text: string): void =>
    news.add({ level, type: 'host', file: null, folder: null, path: null, state: null, text });
  return () => {
    const isAway = fleet.awaySince() !== null;
    if (isAway && !wasAway)
      say('warn', 'PostgreSQL does not answer: uploads in flight continue, everything else waits');
    if (!isAway && wasAway) say('info', 'PostgreSQL answers again');
    wasAway = isAway;
    const after = statesOf(fleet.known(), fleet.self);
    for (const [name, host] of after) {
      const was = before.get(name)?.state;
      if (host.state !== was) say(host.state === 'silent' ? 'warn' : 'info', changeWords(host, was));
    }
    before = after;
  };
}

function statesOf(hosts: readonly Host[], self: string): ReadonlyMap<string, HostView> {
  return new Map(hosts.map((host) => [host.name, hostView(host, self)]));
}

function changeWords({ name, state, version, heard_at: heardAt, draining }: HostView, was?: HostView['state']): string {
  switch (state) {
    case 'silent':
      return silentWords({ name, heardAt }, Date.now());
    case 'stopped':
      return `${name} was stopped`;
    case 'draining':
      return `${name} is drained by ${draining?.by ?? ''}: it finishes its current work and starts nothing new`;
    case 'drained':
      return `${name} is drained: nothing runs there`;
    default:
      if (was === 'draining' || was === 'drained') return `${name} accepts files again`;
      return was === 'silent' ? heardWords(name) : `${name} has joined (dropcast ${version})`;
  }
}
