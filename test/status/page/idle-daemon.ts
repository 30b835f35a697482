import type { LivePicture } from '../../../src/view/picture/picture.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { someNowFile, somePicture } from '../../view/picture/some-picture.ts';

/** A daemon that does nothing, as far as the shell of the page asks one. */
export function idleDaemon(picture: Partial<LivePicture> = {}, hosts: readonly string[] = []): Daemon {
  const silent = { listen: () => () => undefined, since: () => [], last: () => 0 };
  const now = { files: [someNowFile({ path: '/inbox/<script>alert(1)</script>.mp4' })], more: 0 };
  return {
    config: () => ({ file: '/etc/dropcast/dropcast.yaml', status: { hosts }, folders: [], notify: [] }),
    picture: Object.assign(async () => somePicture({ now, ...picture }), { wasBehind: () => false }),
    waits: () => [],
    events: silent,
    news: silent,
    conductor: { uploads: () => [], names: { known: () => ({ channel: ['ch_main'], feed: [] }), unknown: () => [] } },
    folders: { status: () => [] },
    expectations: { list: () => [] },
    feedLinks: { find: () => null },
    pauses: { list: () => [], all: () => null, holds: () => null },
  } as unknown as Daemon;
}
