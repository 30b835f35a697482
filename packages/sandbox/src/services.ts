import type { Clock } from './clock.ts';
import type { Events } from './events.ts';
import type { Faults } from './faults/faults.ts';
import type { Switchboard } from './profiles/switchboard.ts';
import type { Journal } from './http/journal.ts';
import type { Links } from './http/links.ts';
import type { MediaFiles } from './store/media-files.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { SandboxSettings } from './options.ts';
import type { NamedSnapshots } from './makers/named-snapshots.ts';
import type { Records } from './store/records.ts';
import type { RequestWindow } from './store/request-window.ts';
import type { Acceptance } from './uploads/acceptance.ts';
import type { Importer } from './uploads/import.ts';
import type { VideoAdmission } from './video-admission.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

/** All parts of the running service. Request handlers accept only those they use: `Pick<Services, …>`. */
export interface Services {
  readonly settings: SandboxSettings;
  readonly adminToken: string;
  /** Start time by the system clock, ms since 1970. */
  readonly startedAtMs: number;
  readonly clock: Clock;
  readonly events: Events;
  readonly records: Records;
  readonly mediaFiles: MediaFiles;
  readonly lifecycle: Lifecycle;
  readonly acceptance: Acceptance;
  readonly importer: Importer;
  readonly admission: VideoAdmission;
  readonly requestWindow: RequestWindow;
  readonly journal: Journal;
  readonly faults: Faults;
  readonly switchboard: Switchboard;
  readonly snapshots: NamedSnapshots;
  readonly webhooks: Webhooks;
  readonly links: Links;
  /** Called with every error that is a bug in the sandbox. */
  readonly onDefect: (error: unknown) => void;
}
