import type { Daemon } from '../../../daemon/daemon.ts';

/** Channels that files can be sent to: those of the service, or as long as it has not said, those of the rules and of files. */
export async function channelsToChoose({ conductor, config, ledger }: Daemon): Promise<readonly string[]> {
  const { names } = conductor;
  const known = names.known();
  if (known !== null) return known.channel.toSorted();
  const unknown = new Set(names.unknown().flatMap(({ kind, name }) => (kind === 'channel' ? [name] : [])));
  const seen = (await ledger.selection.facets({})).channels.map(({ value }) => value);
  const ruled = config().folders.flatMap(({ rules }) => rules.map(({ channel }) => channel));
  return [...new Set([...ruled, ...seen])].filter((name) => !unknown.has(name)).toSorted();
}
