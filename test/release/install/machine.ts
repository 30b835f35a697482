import type { Box } from '../../systemd/box.ts';
import type { VideoService } from '../../systemd/video-service.ts';

/** State that the checks of one machine share. */
export interface Machine {
  readonly box: Box;
  /** Path of the release tree, here. */
  readonly tree: string;
  /** From the first installation on. */
  service: VideoService | null;
}
